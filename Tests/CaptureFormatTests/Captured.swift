import CaptureFormat
import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Transports

/// The events of a capture file, read completely.
struct Captured {
    var events: [CaptureEvent] = []

    init(_ path: String) throws {
        var reader = try CaptureReader(path)
        while let event = try reader.next() { events.append(event) }
    }

    /// The events without times and without the carriers' facts, which name the endpoint.
    var wire: [CaptureEvent.Content] {
        events.compactMap { event in
            if case .opened = event.content { return nil }
            return event.content
        }
    }

    var received: [CaptureEvent.Piece] {
        events.compactMap { event in
            if case .received(let piece) = event.content { piece } else { nil }
        }
    }

    var receivedLines: [String] { received.flatMap(\.lines) }
}

extension Capture {
    /// Creates a capture of a pump in a new file.
    static func new(
        at path: String, clock: any Clock<Duration> = ManualClock(),
        tell: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) throws -> Capture {
        try Capture(at: path, by: "test", of: .pump, clock: clock, tell: tell)
    }

    func captured(_ link: any Link) -> any Link { captured(link, openedFrom: link.name, packetCapacity: nil) }
}

extension TemporaryFolder {
    /// Writes a capture of one link, which is opened at time zero, with these events; returns its path.
    func capture(
        _ events: [(Duration, CaptureEvent.Content)], keepsPacketBounds: Bool = false
    ) throws -> String {
        let file = try CaptureFile(at: path("capture"), CaptureHeader(program: "test", family: "pump"))
        var facts = CarrierFacts(endpoint: "/dev/ttyUSB0", name: "/dev/ttyUSB0")
        facts.keepsPacketBounds = keepsPacketBounds
        try file.append(CaptureEvent(at: .zero, link: 1, .opened(facts)))
        for (time, content) in events { try file.append(CaptureEvent(at: time, link: 1, content)) }
        return file.path
    }
}

extension CaptureEvent.Content {
    static func sent(_ text: String) -> Self { .sent(.init(Array(text.utf8))) }
    static func received(_ text: String) -> Self { .received(.init(Array(text.utf8))) }
}
