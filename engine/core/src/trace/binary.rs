//! Little-endian numbers in a binary record. Bytes beyond its end read as zeros, so that none can panic.

#[inline]
fn bytes_at<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    frame.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

#[inline]
pub(super) fn u16_at(frame: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(frame, at))
}

#[inline]
pub(super) fn u32_at(frame: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(frame, at))
}

#[inline]
pub(super) fn u64_at(frame: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(frame, at))
}
