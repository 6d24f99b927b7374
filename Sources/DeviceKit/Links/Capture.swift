public import CaptureFormat
public import LineProtocol
internal import Synchronization

/// A file of all that goes over the links of a program, which can be played back.
///
/// A failure to write never reaches the device: it is told once, and the links go on.
///
/// ```swift
/// opening.capture = try Capture(at: "pump.capture", by: "pumpctl 0.1.0", of: .pump, clock: clock) { print($0) }
/// ```
public final class Capture: Sendable {
    private let file: CaptureFile
    private let clock: SessionClock
    private let linkCount = Mutex(0)
    private let tell: @Sendable (CaptureError) -> Void

    /// Makes the file, which must not be there yet.
    ///
    /// - Parameters:
    ///   - program: What writes it, with its version.
    ///   - clock: What times are measured by.
    ///   - tell: Told why the file ends early; called at most once, and must not block.
    /// - Throws: ``CaptureFormat/CaptureError``.
    public init(
        at path: String, by program: String, of family: Family, clock: any Clock<Duration>,
        tell: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        self.clock = SessionClock(clock)
        self.tell = tell
        file = try CaptureFile(at: path, CaptureHeader(program: program, family: family.name))
    }

    /// A link of which all is noted, from its opening on.
    ///
    /// - Parameters:
    ///   - endpoint: What it was opened from, as it was typed.
    ///   - packetCapacity: As ``LineProtocol/Link/packetCapacity()`` says.
    public func captured(_ link: any Link, openedFrom endpoint: String, packetCapacity: Int?) -> any Link {
        let number = linkCount.withLock { count in
            count += 1
            return count
        }
        var facts = CarrierFacts(endpoint: endpoint, name: link.name)
        facts.keepsPacketBounds = link.keepsPacketBounds
        facts.maximumWriteLength = link.maximumWriteLength
        facts.packetCapacity = packetCapacity
        facts.deviceAddress = link.deviceAddress
        facts.isDeviceAddressStable = link.isDeviceAddressStable
        facts.mayHaveReset = link.mayHaveReset
        facts.mayBeMidLine = link.mayBeMidLine
        note(.opened(facts), number)
        return CapturingLink(link) { [self] in note($0, number) }
    }

    private func note(_ content: CaptureEvent.Content, _ link: Int) {
        do throws(CaptureError) { try file.append(CaptureEvent(at: clock.elapsed(), link: link, content)) } catch {
            tell(error)
        }
    }
}
