//! What a trial found, as data and as tables.

use std::fmt::Write;

use serde::Serialize;

use super::trial::{Measured, Turn};

/// What a trial over one data set found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Name of the data set.
    pub data: String,
    /// What each answer of a subgraph waited for under load, in milliseconds.
    pub delay: u64,
    /// Of each gateway, in the order of turns.
    pub gateways: Vec<Measured>,
}

/// A number of each turn.
type Number = fn(&Turn) -> f64;

impl Report {
    /// Returns the ratio of a number of a gateway to that of the first one: the median over turns that follow each
    /// other.
    #[must_use]
    pub fn ratio(&self, gateway: usize, connections: usize, number: Number) -> f64 {
        let turns = |at: usize| {
            let turns = self.gateways[at].turns.iter();
            turns.filter(move |turn| turn.connections == connections)
        };
        let pairs = turns(gateway).zip(turns(0));
        median(pairs.map(|(turn, first)| number(turn) / number(first)))
    }

    /// Writes Markdown tables.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = String::new();
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let first = self.gateways.first().map_or("", |it| &it.name);
        writeln!(out, "Data `{}`, delay {} ms\n", self.data, self.delay)?;
        self.write_one(out)?;
        write!(
            out,
            "\n| gateway | connections | CPU, ms a request | to that of {first} | requests a second | to that of {first} \
             | p50, ms | p99, ms | core in use | CPU of subgraphs, ms | of clients, ms | failed | RSS, MiB |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        )?;
        for connections in self.connections() {
            for at in 0..self.gateways.len() {
                self.write_turns(out, at, connections)?;
            }
        }
        writeln!(
            out,
            "\n| gateway | RSS idle, MiB | RSS at most, MiB |\n|---|---:|---:|"
        )?;
        for it in &self.gateways {
            let (idle, peak) = (mebibytes(it.idle), mebibytes(it.peak));
            writeln!(out, "| {} | {idle:.0} | {peak:.0} |", it.name)?;
        }
        Ok(())
    }

    fn connections(&self) -> Vec<usize> {
        let turns = self.gateways.iter().flat_map(|it| &it.turns);
        let mut connections: Vec<usize> = turns.map(|turn| turn.connections).collect();
        connections.sort_unstable();
        connections.dedup();
        connections
    }

    fn write_one(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "| gateway | answer, bytes | subgraph requests | by subgraph | representations | bytes sent | bytes received \
             | waves | ms, with 10 ms an answer |\n|---|---:|---:|---|---:|---:|---:|---:|---:|"
        )?;
        for it in &self.gateways {
            let one = &it.one;
            let total = one.counts.total();
            let subgraphs = one.counts.subgraphs.iter();
            let subgraphs = subgraphs.map(|(name, asked)| format!("{name} {}", asked.requests));
            let subgraphs: Vec<String> = subgraphs.collect();
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
                it.name,
                one.answer,
                total.requests,
                subgraphs.join(", "),
                total.representations,
                total.bytes_in,
                total.bytes_out,
                one.counts.waves,
                one.delayed / 1e3
            )?;
        }
        Ok(())
    }

    fn write_turns(&self, out: &mut String, at: usize, connections: usize) -> std::fmt::Result {
        let turns = self.gateways[at].turns.iter();
        let turns: Vec<&Turn> = turns.filter(|it| it.connections == connections).collect();
        let of = |number: Number| median(turns.iter().map(|turn| number(turn)));
        let failed: usize = turns.iter().map(|turn| turn.failed).sum();
        writeln!(
            out,
            "| {} | {connections} | {:.3} | {:.2} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0} % | {:.3} | {:.3} | {failed} | {:.0} |",
            self.gateways[at].name,
            of(|it| it.gateway_cpu) / 1e3,
            self.ratio(at, connections, |it| it.gateway_cpu),
            of(|it| it.per_second),
            self.ratio(at, connections, |it| it.per_second),
            of(|it| it.median) / 1e3,
            of(|it| it.p99) / 1e3,
            of(|it| it.busy) * 100.0,
            of(|it| it.subgraph_cpu) / 1e3,
            of(|it| it.client_cpu) / 1e3,
            of(|it| mebibytes(it.resident)),
        )
    }
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns the middle of some numbers, the mean of both where there are two.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
        odd => sorted[odd / 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }
}
