//! The link between host and controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, SimDuration};

/// Link between host and controller: one transfer at a time, first come, first served, per direction or for both together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HostLink {
    /// Bus or network, which sets the defaults of `bandwidth` and `duplex`.
    pub bus: Option<Bus>,
    /// Data rate (default: the peak of `bus`, or unlimited without a bus).
    pub bandwidth: Option<Bandwidth>,
    /// Whether both directions share the data rate (default: that of `bus`, or `half` without a bus).
    pub duplex: Option<Duplex>,
    /// Link time per command without its data.
    pub command_overhead: SimDuration,
    /// Additional delay per command, which delays no other.
    #[serde(skip_serializing_if = "SimDuration::is_zero")]
    pub latency: SimDuration,
}

/// Whether both directions of a link share its data rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// Both directions share the data rate.
    #[default]
    Half,
    /// Each direction has the full data rate.
    Full,
}

/// A bus or network, with the data rate of its standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Bus {
    /// PCI: width x clock, shared by both directions.
    Pci {
        /// Width \[bits\]: 32 or 64.
        #[serde(default = "sixty_four")]
        width: u32,
        /// Nominal clock \[MHz\]: 33 or 66.
        clock: u32,
    },
    /// PCI-X: width x clock, shared by both directions.
    PciX {
        /// Width \[bits\]: 32 or 64.
        #[serde(default = "sixty_four")]
        width: u32,
        /// Nominal clock \[MHz\]: 66, 100 or 133.
        clock: u32,
    },
    /// PCI Express: rate per direction after line coding (8b/10b up to generation 2, 128b/130b from generation 3).
    Pcie {
        /// Generation, 1 to 5.
        #[schemars(range(min = 1, max = 5))]
        generation: u32,
        /// Number of lanes.
        #[schemars(range(min = 1, max = 32))]
        lanes: u32,
    },
    /// TCP over Ethernet, as for iSCSI or a file share: rate per direction after the headers of full frames.
    Ethernet {
        /// Line rate: 125 MB/s is 1 Gb/s.
        #[serde(default = "one_gigabit")]
        #[schemars(extend("maximum" = 1_u64 << 40))]
        line_rate: Bandwidth,
        /// Largest packet \[bytes\].
        #[serde(default = "fifteen_hundred")]
        #[schemars(range(min = 576, max = 9216))]
        mtu: u32,
    },
}

/// IPv4, TCP and the TCP timestamp option \[bytes\] (RFC 791, 793, 7323).
const PACKET_HEADERS: u64 = 20 + 20 + 12;
/// Preamble, header, check sequence and the gap to the next frame \[bytes\] (IEEE 802.3).
const FRAME_OVERHEAD: u64 = 8 + 14 + 4 + 12;

impl Bus {
    /// Peak data rate.
    pub const fn rate(self) -> Bandwidth {
        Bandwidth(match self {
            // A nominal clock of 33, 66 or 133 MHz is a multiple of 100/3 MHz.
            Self::Pci { width, clock } | Self::PciX { width, clock } => {
                let thirds_of_mhz = match clock {
                    33 => 100,
                    66 => 200,
                    133 => 400,
                    other => 3 * other as u64,
                };
                width as u64 / 8 * thirds_of_mhz * 1_000_000 / 3
            }
            Self::Pcie { generation, lanes } => {
                // 10^8 transfers a second.
                let transfers = match generation {
                    1 => 25,
                    2 => 50,
                    other => 80 << (other - 3),
                } * 100_000_000_u64;
                let coded = if generation < 3 { transfers * 8 / 10 } else { transfers * 128 / 130 };
                coded * lanes as u64 / 8
            }
            Self::Ethernet { line_rate, mtu } => {
                let (payload, frame) = (mtu as u64 - PACKET_HEADERS, mtu as u64 + FRAME_OVERHEAD);
                (line_rate.0 as u128 * payload as u128 / frame as u128) as u64
            }
        })
    }

    /// Whether both directions share the data rate.
    pub const fn duplex(self) -> Duplex {
        match self {
            Self::Pci { .. } | Self::PciX { .. } => Duplex::Half,
            Self::Pcie { .. } | Self::Ethernet { .. } => Duplex::Full,
        }
    }
}

impl HostLink {
    /// Replaces the bus by its data rate and duplex mode.
    pub(crate) fn normalise(&mut self) {
        if let Some(bus) = self.bus.take() {
            // The payload of a line of 1 byte/s is less than that.
            let rate = bus.rate().max(Bandwidth(1));
            self.bandwidth = self.bandwidth.or(Some(rate));
            self.duplex = self.duplex.or(Some(bus.duplex()));
        }
        if self.bandwidth.is_none() && self.command_overhead == SimDuration::ZERO {
            self.duplex = None;
        }
        self.duplex = Some(self.duplex.unwrap_or_default());
    }
}

const fn sixty_four() -> u32 {
    64
}

const fn one_gigabit() -> Bandwidth {
    Bandwidth(125_000_000)
}

const fn fifteen_hundred() -> u32 {
    1500
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_the_standards() {
        let rate = |bus: Bus| bus.rate().0;
        assert_eq!(rate(Bus::Pci { width: 32, clock: 33 }), 133_333_333);
        assert_eq!(rate(Bus::Pci { width: 64, clock: 66 }), 533_333_333);
        assert_eq!(rate(Bus::PciX { width: 64, clock: 133 }), 1_066_666_666);
        assert_eq!(rate(Bus::PciX { width: 64, clock: 100 }), 800_000_000);
        assert_eq!(rate(Bus::Pcie { generation: 1, lanes: 4 }), 1_000_000_000);
        assert_eq!(rate(Bus::Pcie { generation: 2, lanes: 8 }), 4_000_000_000);
        assert_eq!(rate(Bus::Pcie { generation: 3, lanes: 8 }) / 100_000_000, 78);
        assert_eq!(rate(Bus::Pcie { generation: 4, lanes: 8 }) / 100_000_000, 157);
    }

    #[test]
    fn gigabit_ethernet_carries_117_7_megabytes_a_second() {
        // 125 MB/s x 1448 / 1538.
        let gigabit = Bus::Ethernet { line_rate: one_gigabit(), mtu: 1500 };
        assert_eq!(gigabit.rate(), Bandwidth(117_685_305));
    }

    #[test]
    fn a_given_bandwidth_overrides_the_bus() {
        let bus = Some(Bus::Pcie { generation: 1, lanes: 8 });
        let mut link = HostLink { bus, ..HostLink::default() };
        link.normalise();
        let mut same = HostLink {
            bandwidth: Some(Bandwidth(2_000_000_000)),
            duplex: Some(Duplex::Full),
            ..HostLink::default()
        };
        same.normalise();
        assert_eq!(link, same);
        let mut slower = HostLink { bus, bandwidth: Some(Bandwidth(1)), ..HostLink::default() };
        slower.normalise();
        assert_eq!((slower.bandwidth, slower.duplex), (Some(Bandwidth(1)), Some(Duplex::Full)));
    }
}
