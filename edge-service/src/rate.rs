//! How many requests are allowed in what time.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use governor::Quota;

/// A number of requests in a window of time, such as `100/s`.
///
/// All may come at once; they are replenished one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    requests: NonZeroU32,
    window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Window {
    Second,
    Minute,
    Hour,
}

impl Window {
    const ALL: [(Window, &'static [&'static str]); 3] = [
        (Window::Second, &["s", "second"]),
        (Window::Minute, &["min", "minute"]),
        (Window::Hour, &["h", "hour"]),
    ];

    fn seconds(self) -> u32 {
        match self {
            Window::Second => 1,
            Window::Minute => 60,
            Window::Hour => 3_600,
        }
    }
}

impl Rate {
    /// Allows so many requests a second.
    #[must_use]
    pub fn per_second(requests: NonZeroU32) -> Self {
        let window = Window::Second;
        Rate { requests, window }
    }

    /// Returns how many requests are allowed in a window.
    #[must_use]
    pub fn requests(self) -> u32 {
        self.requests.get()
    }

    /// Returns the length of a window in seconds.
    #[must_use]
    pub fn window_seconds(self) -> u32 {
        self.window.seconds()
    }

    /// Returns the time after which one more request is allowed.
    pub(crate) fn interval(self) -> Duration {
        let window = Duration::from_secs(self.window_seconds().into());
        // More than one a nanosecond is as good as that.
        (window / self.requests.get()).max(Duration::from_nanos(1))
    }

    pub(crate) fn quota(self) -> Quota {
        let quota = Quota::with_period(self.interval()).expect("an interval is not zero");
        quota.allow_burst(self.requests)
    }
}

impl FromStr for Rate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "a number of requests in a time, such as `100/s`, `600/min` or `5000/h`";
        let (requests, window) = text.split_once('/').ok_or(EXPECTED)?;
        let window = window.trim().to_ascii_lowercase();
        let mut windows = Window::ALL.iter();
        let (window, _) = windows
            .find(|(_, names)| names.contains(&window.as_str()))
            .ok_or(EXPECTED)?;
        Ok(Rate {
            requests: requests.trim().parse().map_err(|_| EXPECTED)?,
            window: *window,
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut windows = Window::ALL.iter();
        let name = windows
            .find(|(window, _)| *window == self.window)
            .map_or("s", |(_, names)| names[0]);
        write!(f, "{}/{name}", self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_shown() {
        for (text, seconds) in [("100/s", 1), ("600/min", 60), ("5000/h", 3_600)] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(
                (rate.to_string().as_str(), rate.window_seconds()),
                (text, seconds)
            );
        }
        assert_eq!("7 / Minute".parse::<Rate>().unwrap().to_string(), "7/min");
        for text in ["", "100", "0/s", "-1/s", "1/day", "1.5/s", "5000000000/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        let rate: Rate = "600/min".parse().unwrap();
        assert_eq!(rate.interval(), Duration::from_millis(100));
        let most: Rate = "4294967295/s".parse().unwrap();
        assert_eq!(most.interval(), Duration::from_nanos(1));
    }
}
