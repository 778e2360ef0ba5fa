//! Contents of the disks after a power cut: consistent stripes, without the data that drives lost from their caches.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use super::buffers::{GATHER, SPREAD};
use super::contents::Contents;
use super::parity::{decode, parities};
use super::volatile::Place;
use super::{Map, Version};
use crate::raid::Layout;

impl Contents {
    /// The power is cut: sectors being written get their version in `media`, with matching parity. Returns those
    /// sectors.
    pub fn cut_power(
        &mut self,
        media: impl Fn(u16, u64) -> Version,
        holding: impl Fn(u16, u32) -> u32,
    ) -> HashSet<Place, FxBuildHasher> {
        let mut under_way = HashSet::default();
        for (_, buffers) in self.by_operation.drain() {
            under_way.extend(buffers.places(&|disk| holding(buffers.array, disk)));
            let layout = &buffers.layout;
            let word = |sector: u64| media(buffers.array, sector).wrapping_mul(SPREAD);
            let unit = layout.stripe_unit().0;
            for sector in buffers.new.iter().flat_map(|extent| extent.lba.0..extent.lba.0 + extent.sectors.0)
            {
                let place = layout.locate(crate::units::Lba(sector));
                let lba = place.disk_lba.0;
                let mirror = layout.mirror(place.disk);
                for disk in mirror.into_iter().chain([place.disk]) {
                    self.words.insert((holding(buffers.array, disk), lba), word(sector));
                }
                let start = layout.stripe_start(place.stripe).0 + lba % unit;
                let data: Vec<_> =
                    (0..layout.data_disks()).map(|index| word(start + u64::from(index) * unit)).collect();
                for (disk, parity) in layout.parity_disks(place.stripe).into_iter().zip(parities(&data)) {
                    if let Some(disk) = disk {
                        self.words.insert((holding(buffers.array, disk), lba), parity);
                    }
                }
            }
        }
        under_way
    }

    /// After a power cut some sectors of a stripe, at `lba` of their disks, have returned to an older version, `fallen`.
    /// Updates copies and parity, and returns the versions of the stripe's data there.
    pub fn fall_back(
        &mut self,
        layout: &Layout,
        (stripe, lba): (u64, u64),
        fallen: &Map<Place, u64>,
        serving: impl Fn(u32) -> Option<u32>,
    ) -> Vec<Version> {
        let before = |disk: u32| serving(disk).map(|device| self.word(device, lba));
        let after = |disk: u32| {
            let place = (serving(disk)?, lba);
            Some(fallen.get(&place).copied().unwrap_or_else(|| self.word(place.0, lba)))
        };
        let disks: Vec<_> = (0..layout.data_disks()).map(|index| layout.data_disk(stripe, index)).collect();
        let parity_disks = layout.parity_disks(stripe);
        let there: Vec<_> = disks.iter().map(|&disk| before(disk)).collect();
        let known = if layout.level().parities() > 0 {
            let known = decode(&there, parity_disks.map(|disk| disk.and_then(before)));
            known.unwrap_or_else(|| unreachable!("an array that has lost data has ended the run"))
        } else {
            vec![0; there.len()]
        };
        let data: Vec<_> = disks
            .iter()
            .zip(known)
            .map(|(&disk, known)| {
                let copies = [Some(disk), layout.mirror(disk)].into_iter().flatten().filter_map(after);
                copies.min_by_key(|word| word.wrapping_mul(GATHER)).unwrap_or(known)
            })
            .collect();
        let mut written = Vec::new();
        for (&disk, &word) in disks.iter().zip(&data) {
            written.extend([Some(disk), layout.mirror(disk)].into_iter().flatten().map(|disk| (disk, word)));
        }
        let parity = parity_disks.into_iter().zip(parities(&data));
        written.extend(parity.filter_map(|(disk, word)| Some((disk?, word))));
        for (disk, word) in written {
            if let Some(device) = serving(disk) {
                self.words.insert((device, lba), word);
            }
        }
        data.into_iter().map(|word| word.wrapping_mul(GATHER)).collect()
    }
}
