"""fio's options in three groups: translated to a workload, without effect on it, or not supported.

Names and meanings are those of fio's documentation (HOWTO.rst, github.com/axboe/fio).
"""

from collections.abc import Mapping
from types import MappingProxyType

from destage.spec.validation import suggest

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "readwrite": "rw",
        "blocksize": "bs",
        "blocksize_range": "bsrange",
        "ba": "blockalign",
        "blocksize_unaligned": "bs_unaligned",
        "io_limit": "io_size",
        "timeout": "runtime",
        "wait_for_previous": "stonewall",
        "iodepth_batch_submit": "iodepth_batch",
        "iodepth_batch_complete_min": "iodepth_batch_complete",
        "fill_fs": "fill_device",
        "mem": "iomem",
        "mem_align": "iomem_align",
    }
)
"""Canonical names of options by their aliases."""

MAPPED = frozenset(
    {
        "rw",
        "rw_sequencer",
        "rwmixread",
        "rwmixwrite",
        "bs",
        "bssplit",
        "bsrange",
        "blockalign",
        "iodepth",
        "ioengine",
        "numjobs",
        "runtime",
        "time_based",
        "ramp_time",
        "size",
        "io_size",
        "filesize",
        "filename",
        "nrfiles",
        "offset",
        "offset_increment",
        "thinktime",
        "thinktime_blocks",
        "rate",
        "rate_iops",
        "rate_process",
        "random_distribution",
        "percentage_random",
        "norandommap",
        "random_generator",
        "zonemode",
        "zonesize",
        "zonerange",
        "zoneskip",
        "fsync",
        "fdatasync",
        "direct",
        "buffered",
        "sync",
        "startdelay",
        "stonewall",
        "read_iolog",
        "replay_no_stall",
        "replay_time_scale",
        "kb_base",
        "number_ios",
        "loops",
    }
)
"""The options that define the workload, by canonical name."""

_CONTENT = "simulated data has no content"
_HOST = "the host's processors and memory are not simulated"
_OUTPUT = "it affects fio's output only"
_FILES = "creation and naming of files do not change the requests"
_SEED = "the seed is run.seed"
_END = "it applies at the end of the job, and the simulated load does not end"

WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("description", "name", "unit_base"), "it is descriptive text"),
        **dict.fromkeys(
            (
                "group_reporting",
                "new_group",
                "unified_rw_reporting",
                "stats",
                "percentile_list",
                "clat_percentiles",
                "lat_percentiles",
                "slat_percentiles",
                "significant_figures",
                "disk_util",
                "disable_lat",
                "disable_clat",
                "disable_slat",
                "disable_bw_measurement",
                "disable_bw",
                "gtod_reduce",
                "gtod_cpu",
                "clocksource",
                "bwavgtime",
                "iopsavgtime",
                "write_bw_log",
                "write_lat_log",
                "write_iops_log",
                "write_hist_log",
                "write_iolog",
                "log_avg_msec",
                "log_hist_msec",
                "log_max_value",
                "log_offset",
                "log_compression",
                "log_store_compressed",
                "log_unix_epoch",
                "per_job_logs",
                "block_error_percentiles",
            ),
            _OUTPUT,
        ),
        **dict.fromkeys(
            (
                "directory",
                "filename_format",
                "unique_filename",
                "fallocate",
                "fadvise_hint",
                "create_serialize",
                "create_fsync",
                "create_on_open",
                "allow_file_create",
                "allow_mounted_write",
                "overwrite",
                "unlink",
                "unlink_each_loop",
                "file_service_type",
                "openfiles",
                "invalidate",
            ),
            _FILES,
        ),
        **dict.fromkeys(("randrepeat", "allrandrepeat", "randseed"), _SEED),
        "softrandommap": "the random map always fits into memory",
        **dict.fromkeys(
            (
                "zero_buffers",
                "refill_buffers",
                "scramble_buffers",
                "buffer_compress_percentage",
                "buffer_compress_chunk",
                "buffer_pattern",
                "dedupe_percentage",
                "dedupe_mode",
                "dedupe_working_set_percentage",
                "dedupe_global",
            ),
            _CONTENT,
        ),
        **dict.fromkeys(
            (
                "thread",
                "nice",
                "cpus_allowed",
                "cpus_allowed_policy",
                "cpumask",
                "numa_cpu_nodes",
                "numa_mem_policy",
                "iomem",
                "iomem_align",
                "hugepage-size",
                "lockmem",
                "thinktime_spin",
                "hipri",
                "registerfiles",
                "fixedbufs",
                "sqthread_poll",
                "sqthread_poll_cpu",
                "userspace_reap",
            ),
            _HOST,
        ),
        **dict.fromkeys(("end_fsync", "fsync_on_close", "exitall"), _END),
        **dict.fromkeys(("exec_prerun", "exec_postrun"), "commands are not executed"),
        **dict.fromkeys(
            ("continue_on_error", "ignore_error", "error_dump"), "simulated requests do not fail"
        ),
        **dict.fromkeys(
            ("steadystate", "ss", "steadystate_duration", "ss_dur", "steadystate_ramp_time", "ss_ramp"),
            "run.warm_up and run.window define the measured period",
        ),
    }
)
"""The options that do not affect the simulation, each with the reason."""

_UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "bs_unaligned": "is not simulated; requests are of whole sectors, at multiples of blockalign",
        "bs_is_seq_rand": "is not simulated; sizes differ by direction (bs=read,write)",
        "opendir": "is not simulated; a job has one file, filename=",
        "iodepth_low": "is not simulated; iodepth I/Os are outstanding at any time",
        "iodepth_batch": "is not simulated; iodepth I/Os are outstanding at any time",
        "iodepth_batch_complete": "is not simulated; iodepth I/Os are outstanding at any time",
        "iodepth_batch_complete_max": "is not simulated; iodepth I/Os are outstanding at any time",
        "io_submit_mode": "is not simulated; rate_iops here never waits for completions",
        "serialize_overlap": "is not simulated",
        "rate_min": "is not simulated; a run has no minimum rate",
        "rate_iops_min": "is not simulated; a run has no minimum rate",
        "rate_cycle": "is not simulated",
        "rate_ignore_thinktime": "is not simulated; use thinktime or rate_iops",
        "thinktime_blocks_type": "is not simulated; a think time begins when its I/Os are complete",
        "thinktime_iotime": "is not simulated; thinktime_blocks counts the I/Os between think times",
        **dict.fromkeys(
            ("latency_target", "latency_window", "latency_percentile", "latency_run"),
            "is not simulated; `seek:` of a study finds the largest load that meets an objective",
        ),
        "max_latency": "is not simulated; latency does not stop a run",
        "wait_for": "is not simulated; stonewall waits for all jobs above",
        "flow": "is not simulated",
        "flow_id": "is not simulated",
        "verify": "is not simulated; add a job for the reads of the verification",
        "do_verify": "is not simulated; add a job for the reads of the verification",
        "pre_read": "is not simulated; use `run.warm_up` to warm the caches",
        "sync_file_range": "is not simulated; use fdatasync",
        "write_barrier": "is not simulated; use fsync",
        "fill_device": "is not simulated; give size",
        "file_append": "is not simulated; give offset",
        "replay_redirect": "is not simulated; a trace goes to one array",
        "replay_align": "is not simulated; convert the trace first",
        "replay_scale": "is not simulated; use `map:` of the trace for addresses beyond the array",
        "replay_skip": "is not simulated; convert the trace first",
        "read_iolog_chunked": "is not simulated",
        "merge_blktrace_file": "is not simulated; merge the traces first",
        "prio": "is not simulated; requests have no priority",
        "prioclass": "is not simulated; requests have no priority",
        "cmdprio_percentage": "is not simulated; requests have no priority",
    }
)


def explain_unsupported(name: str) -> str:
    """Return why an option is not supported, and the alternative."""
    meant = suggest(name, sorted(MAPPED | WITHOUT_EFFECT.keys() | ALIASES.keys()))
    return _UNSUPPORTED.get(name, f"is unknown{meant or ';'} known: {', '.join(sorted(MAPPED))}")
