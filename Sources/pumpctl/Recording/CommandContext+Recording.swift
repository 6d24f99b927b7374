import DeviceKit
import LineProtocol

extension CommandContext {
    /// Whether the lines on the command's links are recorded. False if the configuration is needed and can't be read.
    var recordsLines: Bool {
        // A device of the family `raw` has no values, so its lines are recorded.
        let hasLines = records == .lines || records == .values && family == .raw
        return hasLines && (try? recordChoice()) == true
    }

    /// Wraps a link that ``opening(isBounded:tellsSteps:note:)`` has not opened, such as that of a phone which has
    /// connected to this computer: captures its traffic with `--capture`, and records its lines if ``recordsLines``.
    ///
    /// - Parameters:
    ///   - name: The device's name for people.
    ///   - device: An ID that distinguishes the device from others; nil if there is none.
    ///   - note: Prints problems of the recording.
    func recorded(
        _ link: any Link, as name: String, device: @autoclosure @escaping @Sendable () -> String? = nil,
        note: @escaping @Sendable (String) -> Void
    ) -> any Link {
        let link = capture?.captured(link, openedFrom: name, packetCapacity: nil) ?? link
        guard recordsLines else { return link }
        return record.recorded(link, as: name, device: device) { note($0.text) }
    }
}
