//! Memory: the system allocator's, but large pieces come from the kernel, which is asked for huge pages there.
//!
//! A table of some megabytes that is read here and there waits for the translation of addresses as much as for the
//! memory itself, as one entry of the processor's translation buffer stands for 4 KiB. With pages of 2 MiB it stands
//! for 512 times that, and a piece is taken into use in as many fewer faults. Linux gives them where
//! `/sys/kernel/mm/transparent_hugepage/enabled` is `madvise` or `always`; else a piece has small pages as before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// The allocator.
pub struct HugePages;

/// Size of a huge page \[bytes\]. Pieces are whole pages, which the kernel then aligns.
const PAGE: usize = 2 << 20;
/// Size from which on a piece is large \[bytes\]: of less than two pages, much might be rounding.
const LARGE: usize = 2 * PAGE;
/// The least alignment of what the kernel gives \[bytes\].
const ALIGNMENT: usize = 4096;

#[inline]
const fn is_large(size: usize, layout: Layout) -> bool {
    size >= LARGE && layout.align() <= ALIGNMENT
}

/// The start of a mapping of huge pages, or null where the kernel refused it.
///
/// # Safety
/// `start` is what `mmap` or `mremap` gave for whole pages of a total of `size`.
unsafe fn in_huge_pages(start: *mut libc::c_void, size: usize) -> *mut u8 {
    if start == libc::MAP_FAILED {
        return null_mut();
    }
    // SAFETY: the range is the caller's mapping, and the advice changes no contents. Refusal costs time only.
    unsafe { libc::madvise(start, size.next_multiple_of(PAGE), libc::MADV_HUGEPAGE) };
    start.cast()
}

/// A piece of zeros.
fn map(size: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping touches no other memory.
    unsafe { in_huge_pages(libc::mmap(null_mut(), size.next_multiple_of(PAGE), access, kind, -1, 0), size) }
}

// SAFETY: whether a piece is large follows from the layout that every call names it by, so that each goes back to where
// it came from; a mapping is its owner's alone, is as large as was asked for and aligned to ALIGNMENT at least.
unsafe impl GlobalAlloc for HugePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout) {
            return map(layout.size());
        }
        // SAFETY: the caller keeps this function's contract, which is the system's.
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
            // SAFETY: the piece is a mapping of this size.
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
                // SAFETY: the piece is a mapping of the first size.
                unsafe {
                    let start = libc::mremap(start.cast(), sizes[0], sizes[1], libc::MREMAP_MAYMOVE);
                    in_huge_pages(start, size)
                }
            }
            // SAFETY: the old piece is the caller's, the new one is apart from it, and both hold what is copied.
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
