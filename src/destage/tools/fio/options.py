"""fio's options in three groups: translated to a workload, without effect on it, or not supported.

Names and meanings are those of fio's documentation (HOWTO.rst, github.com/axboe/fio).
"""

from destage.tools.fio.settings import Settings
from destage.tools.options import OptionTable, by_reason, list_settings

OPTIONS = OptionTable(
    list_settings(Settings),
    ignored=by_reason(
        {
            "it is descriptive text": "description name unit_base",
            "it affects fio's output only": (
                "group_reporting new_group unified_rw_reporting stats percentile_list clat_percentiles "
                "lat_percentiles slat_percentiles significant_figures disk_util disable_lat disable_clat "
                "disable_slat disable_bw_measurement disable_bw gtod_reduce gtod_cpu clocksource bwavgtime "
                "iopsavgtime write_bw_log write_lat_log write_iops_log write_hist_log write_iolog "
                "log_avg_msec log_hist_msec log_max_value log_offset log_compression log_store_compressed "
                "log_unix_epoch per_job_logs block_error_percentiles"
            ),
            "creation and naming of files do not change the requests": (
                "directory filename_format unique_filename fallocate fadvise_hint create_serialize "
                "create_fsync create_on_open allow_file_create allow_mounted_write overwrite unlink "
                "unlink_each_loop file_service_type openfiles invalidate"
            ),
            "the seed is run.seed": "randrepeat allrandrepeat randseed",
            "the random map always fits into memory": "softrandommap",
            "simulated data has no content": (
                "zero_buffers refill_buffers scramble_buffers buffer_compress_percentage "
                "buffer_compress_chunk buffer_pattern dedupe_percentage dedupe_mode "
                "dedupe_working_set_percentage dedupe_global"
            ),
            "the host's processors and memory are not simulated": (
                "thread nice cpus_allowed cpus_allowed_policy cpumask numa_cpu_nodes numa_mem_policy iomem "
                "iomem_align hugepage-size lockmem thinktime_spin hipri registerfiles fixedbufs "
                "sqthread_poll sqthread_poll_cpu userspace_reap"
            ),
            "it applies at the end of the job, and the simulated load does not end": (
                "end_fsync fsync_on_close exitall"
            ),
            "commands are not executed": "exec_prerun exec_postrun",
            "simulated requests do not fail": "continue_on_error ignore_error error_dump",
            "run.warm_up and run.window define the measured period": (
                "steadystate ss steadystate_duration ss_dur steadystate_ramp_time ss_ramp"
            ),
        }
    ),
    unsupported=by_reason(
        {
            "is not simulated": "serialize_overlap rate_cycle flow flow_id read_iolog_chunked",
            "is not simulated; requests are of whole sectors, at multiples of blockalign": "bs_unaligned",
            "is not simulated; sizes differ by direction (bs=read,write)": "bs_is_seq_rand",
            "is not simulated; a job has one file, filename=": "opendir",
            "is not simulated; iodepth I/Os are outstanding at any time": (
                "iodepth_low iodepth_batch iodepth_batch_complete iodepth_batch_complete_max"
            ),
            "is not simulated; rate_iops here never waits for completions": "io_submit_mode",
            "is not simulated; a run has no minimum rate": "rate_min rate_iops_min",
            "is not simulated; use thinktime or rate_iops": "rate_ignore_thinktime",
            "is not simulated; a think time begins when its I/Os are complete": "thinktime_blocks_type",
            "is not simulated; thinktime_blocks counts the I/Os between think times": "thinktime_iotime",
            "is not simulated; `seek:` of a study finds the largest load that meets an objective": (
                "latency_target latency_window latency_percentile latency_run"
            ),
            "is not simulated; latency does not stop a run": "max_latency",
            "is not simulated; stonewall waits for all jobs above": "wait_for",
            "is not simulated; add a job for the reads of the verification": "verify do_verify",
            "is not simulated; use `run.warm_up` to warm the caches": "pre_read",
            "is not simulated; use fdatasync": "sync_file_range",
            "is not simulated; use fsync": "write_barrier",
            "is not simulated; give size": "fill_device",
            "is not simulated; give offset": "file_append",
            "is not simulated; a trace goes to one array": "replay_redirect",
            "is not simulated; convert the trace first": "replay_align replay_skip",
            "is not simulated; use `map:` of the trace for addresses beyond the array": "replay_scale",
            "is not simulated; merge the traces first": "merge_blktrace_file",
            "is not simulated; requests have no priority": "prio prioclass cmdprio_percentage",
        }
    ),
    aliases=by_reason(
        {
            "rw": "readwrite",
            "bs": "blocksize",
            "bsrange": "blocksize_range",
            "blockalign": "ba",
            "bs_unaligned": "blocksize_unaligned",
            "io_size": "io_limit",
            "runtime": "timeout",
            "stonewall": "wait_for_previous",
            "iodepth_batch": "iodepth_batch_submit",
            "iodepth_batch_complete": "iodepth_batch_complete_min",
            "fill_device": "fill_fs",
            "iomem": "mem",
            "iomem_align": "mem_align",
        }
    ),
)
"""What each option means; those of `settings` define the workload."""
