//! The allocator: the system's, except that large blocks are mapped directly and advised to use huge pages.
//!
//! Random reads of a table of several megabytes wait for address translation as much as for memory, since one entry of
//! the translation lookaside buffer covers 4 KiB. With pages of 2 MiB it covers 512 times that, and a block causes 512
//! times fewer page faults. Linux provides them if `/sys/kernel/mm/transparent_hugepage/enabled` is `madvise` or `always`;
//! otherwise a block has small pages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// The allocator of the extension module.
pub struct HugePages;

/// Size of a huge page \[bytes\]. Large blocks are whole pages, which the kernel then aligns.
const PAGE: usize = 2 << 20;
/// Minimum size of a large block \[bytes\]: below two pages, rounding would waste much of it.
const LARGE: usize = 2 * PAGE;
/// Minimum alignment of a mapping \[bytes\].
const ALIGNMENT: usize = 4096;

#[inline]
const fn is_large(size: usize, layout: Layout) -> bool {
    size >= LARGE && layout.align() <= ALIGNMENT
}

/// Advises a mapping to use huge pages; returns its start, or null if the mapping failed.
///
/// # Safety
/// `start` is the result of `mmap` or `mremap` for whole pages that hold `size` bytes.
unsafe fn in_huge_pages(start: *mut libc::c_void, size: usize) -> *mut u8 {
    if start == libc::MAP_FAILED {
        return null_mut();
    }
    // SAFETY: the range is the caller's mapping, and the advice changes no contents. A refusal only costs time.
    unsafe { libc::madvise(start, size.next_multiple_of(PAGE), libc::MADV_HUGEPAGE) };
    start.cast()
}

/// Maps a block of zeros.
fn map(size: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping touches no other memory.
    unsafe { in_huge_pages(libc::mmap(null_mut(), size.next_multiple_of(PAGE), access, kind, -1, 0), size) }
}

// SAFETY: every call identifies a block by its layout, which determines whether it is large, so that each block is freed
// where it was allocated; a mapping belongs to its owner alone, is at least as large as its layout and as aligned.
unsafe impl GlobalAlloc for HugePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout) {
            return map(layout.size());
        }
        // SAFETY: the caller keeps this function's contract, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout) {
            return map(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_large(layout.size(), layout) {
            // SAFETY: the block is a mapping of this size.
            unsafe { libc::munmap(start.cast(), layout.size().next_multiple_of(PAGE)) };
        } else {
            // SAFETY: as above.
            unsafe { System.dealloc(start, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (is_large(layout.size(), layout), is_large(size, layout)) {
            // SAFETY: as above.
            (false, false) => unsafe { System.realloc(start, layout, size) },
            (true, true) => {
                let sizes = [layout.size(), size].map(|size| size.next_multiple_of(PAGE));
                // SAFETY: the block is a mapping of the first size.
                unsafe {
                    let start = libc::mremap(start.cast(), sizes[0], sizes[1], libc::MREMAP_MAYMOVE);
                    in_huge_pages(start, size)
                }
            }
            // SAFETY: the old block is the caller's, the new one does not overlap it, and both hold the bytes copied.
            _ => unsafe {
                let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(start, size.min(layout.size()));
                    self.dealloc(start, layout);
                }
                moved
            },
        }
    }
}
