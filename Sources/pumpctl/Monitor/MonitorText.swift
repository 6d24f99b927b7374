import DeviceKit
import RecordFormat

/// The text of an update, on one line.
enum MonitorText {
    /// Returns the complete line: the time, the event, and, unless the event is a text, the known values.
    static func line(_ update: FamilyUpdate) -> String {
        let state = if case .text = update.event { [String]() } else { update.phrases }
        return line(update, [happening(update)].compactMap(\.self) + state)
    }

    /// Returns the line of the current state: the time, whether the link is lost, and the known values.
    static func stateLine(_ update: FamilyUpdate) -> String {
        line(update, (update.isLinkUp ? [] : ["link lost"]) + update.phrases)
    }

    private static func line(_ update: FamilyUpdate, _ parts: [String]) -> String {
        ([update.time.timeOfDayInSeconds] + parts).joined(separator: "  ")
    }

    /// Returns the words for the event, with the punctuation before the values; nil for a plain status.
    private static func happening(_ update: FamilyUpdate) -> String? {
        let text = update.text ?? ""
        return switch update.event {
        case .status: nil
        case .happened(let name, _): "\(update.family.events.first { $0.name == name }?.phrase ?? text):"
        case .error: "\(update.family.deviceWithArticle) reports \(text):"
        case .text: "\"\(text)\""
        case .alarm: "ALARM: \(text);"
        case .unanswered: "\(text);"
        case .lost: "link lost: \(text);"
        case .back: "link is back\(text.isEmpty ? "" : ", \(text)");"
        }
    }
}
