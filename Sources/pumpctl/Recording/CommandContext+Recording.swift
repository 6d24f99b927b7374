import DeviceKit
import LineProtocol
import RecordFormat

extension CommandContext {
    /// The link, and where `--record` asks for it and the command reads no values, a record of what goes over it.
    ///
    /// - Parameters:
    ///   - name: The device, as people name it.
    ///   - device: What tells it from others; nil where nothing does.
    ///   - note: Where to tell what is wrong with the record.
    func recorded(
        _ link: any Link, as name: String, device: @autoclosure @escaping @Sendable () -> String? = nil,
        note: @escaping @Sendable (String) -> Void
    ) -> any Link {
        guard records == .lines, options.record == true else { return link }
        let opened = RecordTime.now
        let session = LinkSession(on: loop) { [self] in
            guard let recording = await record.recording(self, note) else { return nil }
            return (recording, recording.beginSession(named: name, device: device(), at: opened))
        }
        record.add(session)
        return RecordingLink(link) { session.take($0) }
    }
}
