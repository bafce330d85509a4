//! Health records of other services, as far as they can be read.

use serde_json::Value;

use super::health::{HealthRecord, Status};

/// Records below a record that are kept.
const MAX_RECORDS: usize = 200;
/// Levels of records that are kept.
const MAX_LEVELS: usize = 8;
/// Characters of a text that are kept.
const MAX_TEXT: usize = 2_000;

impl HealthRecord {
    /// Reads the record of another service, if it is one. Texts are cut, and of too many records the first are kept.
    ///
    /// `lead` says where a link for troubleshooting leads from here; `None` leaves it out.
    #[must_use]
    pub fn of_json(value: &Value, lead: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let mut reader = Reader {
            left: MAX_RECORDS,
            lead,
        };
        reader.read(value, MAX_LEVELS)
    }
}

struct Reader<'l> {
    /// Records that may be read.
    left: usize,
    lead: &'l dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    fn read(&mut self, value: &Value, levels: usize) -> Option<HealthRecord> {
        self.left = self.left.checked_sub(1)?;
        let text = |key: &str| {
            let text = value[key].as_str()?;
            Some(text.chars().take(MAX_TEXT).collect::<String>())
        };
        let status = match text("status")?.to_ascii_uppercase().as_str() {
            "OK" => Status::Ok,
            "WARNING" | "WARN" => Status::Warning,
            _ => Status::Error,
        };
        let checks = value["healthChecks"]
            .as_array()
            .filter(|_| levels > 1)
            .into_iter()
            .flatten();
        let id = text("id").or_else(|| text("name")).unwrap_or_default();
        // Not all services say everything.
        let impact = text("impact").unwrap_or_else(|| HealthRecord::impact_of(status).to_owned());
        let description = text("description").or_else(|| text("name"));
        let link = text("troubleshooting");
        Some(HealthRecord {
            status,
            name: text("name"),
            kind: text("type").unwrap_or_else(|| "graphql".to_owned()).into(),
            impact: impact.into(),
            troubleshooting: link.and_then(|link| (self.lead)(&link)).unwrap_or_default(),
            description: description.unwrap_or_else(|| id.clone()).into(),
            message: text("message").unwrap_or_else(|| format!("the status is {status}")),
            id,
            health_checks: checks
                .filter_map(|check| self.read(check, levels - 1))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_record_of_another_service_is_kept_within_bounds() {
        let value = json!({"status": "warn", "id": "9500", "type": "graphql", "message": "x".repeat(9_000),
            "troubleshooting": "/__trouble",
            "healthChecks": [{"status": "OK", "id": "1"}, {"id": "no status"}, {"status": "DOWN", "id": "2"}]});
        let read = |left, levels| {
            let lead = |link: &str| Some(format!("/objects{link}"));
            Reader { left, lead: &lead }.read(&value, levels)
        };
        let record = read(10, 2).unwrap();
        assert_eq!(
            (record.status, record.id.as_str()),
            (Status::Warning, "9500")
        );
        assert_eq!(record.message.len(), MAX_TEXT);
        assert_eq!(record.troubleshooting, "/objects/__trouble");
        let below: Vec<_> = record
            .health_checks
            .iter()
            .map(|it| (it.status, &*it.id))
            .collect();
        assert_eq!(below, [(Status::Ok, "1"), (Status::Error, "2")]);
        assert!(read(10, 1).unwrap().health_checks.is_empty());
        assert_eq!(read(2, 2).unwrap().health_checks.len(), 1);
        assert!(HealthRecord::of_json(&json!({"id": "1"}), &|_| None).is_none());
    }
}
