//! A few lines or records of each format, written by hand from its description.

fn vscsi_v1() -> Vec<u8> {
    let record = |serial: u32, bytes: u32, command: u16, lbn: u64, us: u64| {
        let mut record = Vec::new();
        record.extend(serial.to_le_bytes());
        record.extend(bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(command.to_le_bytes());
        record.extend(0x0100_u16.to_le_bytes());
        record.extend(lbn.to_le_bytes());
        record.extend(us.to_le_bytes());
        record
    };
    [
        record(1, 4096, 0x2a, 100, 5_000_000),
        record(2, 512, 0x28, 7, 5_000_250),
        record(3, 0, 0x35, 0, 5_000_300),
        record(4, 1000, 0x88, 1 << 40, 5_000_400),
    ]
    .concat()
}

fn vscsi_v2() -> Vec<u8> {
    let record = |serial: u32, bytes: u32, command: u16, lbn: u64, us: u64, response: u64| {
        let mut record = Vec::new();
        record.extend(command.to_le_bytes());
        record.extend(0x0200_u16.to_le_bytes());
        record.extend(serial.to_le_bytes());
        record.extend(bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(lbn.to_le_bytes());
        record.extend(us.to_le_bytes());
        record.extend(response.to_le_bytes());
        record
    };
    [record(1, 4096, 0x2a, 100, 5_000_000, 750), record(2, 512, 0x28, 7, 5_000_250, 90)].concat()
}

fn oracle_general() -> Vec<u8> {
    let record = |second: u32, object: u64, size: u32, next: i64| {
        let mut record = Vec::new();
        record.extend(second.to_le_bytes());
        record.extend(object.to_le_bytes());
        record.extend(size.to_le_bytes());
        record.extend(next.to_le_bytes());
        record
    };
    [record(50, 42, 4096, 3), record(50, 7, 512, -1), record(51, 42, 4096, -1)].concat()
}

/// One event of blktrace, in little-endian or, if swapped, big-endian byte order.
pub(super) fn blktrace_event(
    is_swapped: bool,
    time: u64,
    (sector, bytes): (u64, u32),
    action: u32,
    payload: &[u8],
) -> Vec<u8> {
    let word = |value: u32| if is_swapped { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u64| if is_swapped { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if is_swapped { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut event = Vec::new();
    event.extend(word(0x6561_7407));
    event.extend(word(1));
    event.extend(long(time));
    event.extend(long(sector));
    event.extend(word(bytes));
    event.extend(word(action));
    event.extend(word(697));
    event.extend(word(8 << 20 | 16));
    event.extend(word(0));
    event.extend(half(0));
    event.extend(half(payload.len() as u16));
    event.extend(payload);
    event
}

fn blktrace() -> Vec<u8> {
    const QUEUED: u32 = 1 << 20 | 1;
    [
        blktrace_event(false, 0, (0, 0), 1 << 26 | 1, b"a message"),
        blktrace_event(false, 1_000, (8, 4096), QUEUED | 1 << 17 | 1 << 19, &[]),
        blktrace_event(false, 1_500, (8, 4096), 1 << 23 | 8, b"another event"),
        blktrace_event(false, 2_000, (64, 8192), QUEUED | 1 << 16 | 1 << 8, b"12345678"),
        blktrace_event(false, 3_000, (0, 0), QUEUED | 1 << 17 | 1 << 18 | 1 << 19, &[]),
    ]
    .concat()
}

/// The sample of the format of this name.
pub(super) fn of(name: &str) -> Vec<u8> {
    let text = match name {
        "vscsi_v1" => return vscsi_v1(),
        "vscsi_v2" => return vscsi_v2(),
        "oracle_general" => return oracle_general(),
        "blktrace" => return blktrace(),
        "alibaba" => "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
        "blkparse" => {
            "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
             \x20 8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]\n\
             \x20 8,0    3        0     0.000007900     0  m   N cfq workload slice:100\n\
             \x20 8,0    3        4     0.250000000   698  Q  RA 100 + 16 [a name with spaces]\n"
        }
        "cloudphysics_csv" => "version,time,op,size,lbn\n1,5000000,2a,512,4096\n1,5000000,28,4096,7\n",
        "disksim" => "10.500000\t30\t0\t5\t1\n12.250000\t20\t5000\t6\t0\n",
        "disksim_validate" => {
            "R Hit       1000   4  15000.00000  56000.00000\nW Miss      2000   4   3000.00000  27000.00000\n"
        }
        "fio_iolog" => {
            "fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdb open\n0 /dev/sdb write 0 4096\n\
             610 /dev/sdb read 1048576 65536\n1100 /dev/sdb datasync 0 0\n1300 /dev/sdb close\n"
        }
        "fiu" => {
            "89967404000000 4892 syslogd 904265560 8 W 6 0 531e779d9eadf2b4d54bf5f1f7a4a3c5\n\
             89967405000000 2522 pdflush daemon 904265568 16 R 6 1 0\n"
        }
        "mqsim" => "1000000 0 1000 8 0\n2500000 0 2000 8 0\n4000000 0 1000 8 1\n9000000 0 3000 16 1\n",
        "msps" => {
            "BeginHeader\n\
             \x20 DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,     IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags\n\
             \x20 DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,     IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags\n\
             \x20 DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,     IrpPtr,                              ElapsedTime,  DiskNum, IrpFlags\n\
             EndHeader\n\
             OS Version: 5.2.3790, Trace Size: 1KB\n\
             \x20 DiskWrite,      12340,       System (   4),         56, 0xfffffa80, 0x0009c35000, 0x00001000,         801,        2, 0x060a00\n\
             \x20 DiskReadInit,   12400,       System (   4),         56, 0xfffffa80\n\
             \x20 DiskRead,      12500,     sqlservr.exe (1234),         60, 0xfffffa81, 0x0000002000, 0x00000200,         100,        0, 0x060043\n"
        }
        "msr" => {
            "128166372000000000,web,0,Write,4096000,2048,1500\n128166372000000215,web,1,Read,8192000,512,700\n"
        }
        "spc" => "0,20941264,8192,W,0.551706\n1,3435888,23552,r,1.609859\n",
        "systor17" => {
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             1456000000.250000000,0.000500000,R,0,1048576,131072\n\
             1456000000.125000000,,W,1,2097152,122880\n"
        }
        "tencent" => "1538000000,4096000,128,1,7\n1537999999,8192000,128,0,9\n",
        _ => panic!("{name} has no sample"),
    };
    text.as_bytes().to_vec()
}
