import DeviceKit
import LineProtocol

extension CommandContext {
    /// Whether what goes over the links is recorded. A configuration that can't be read asks for nothing.
    var recordsLines: Bool {
        // A device of no known family has no values.
        let hasLines = records == .lines || records == .values && family == .raw
        return hasLines && (try? recordChoice()) == true
    }

    /// The link, and where `--record` asks for it and the command reads no values, a record of what goes over it; where
    /// `--capture` asks for it, that too.
    ///
    /// - Parameters:
    ///   - name: The device, as people name it.
    ///   - device: What tells it from others; nil where nothing does.
    ///   - note: Where to tell what is wrong with the record.
    func recorded(
        _ link: any Link, as name: String, device: @autoclosure @escaping @Sendable () -> String? = nil,
        note: @escaping @Sendable (String) -> Void
    ) -> any Link {
        let link = capture?.captured(link, openedFrom: name, packetCapacity: nil) ?? link
        guard recordsLines else { return link }
        return record.recorded(link, as: name, device: device) { note($0.text) }
    }
}
