import DescriptorIO
import DeviceKit
import LineProtocol
import Synchronization

/// A link that a command has for a long time. While it is open, another pumpctl can have the device switched off over it
/// (``OffService``).
final class HeldLink: LinkWrapper {
    let link: any Link
    private let taps = Mutex<[ObjectIdentifier: LinkTap]>([:])
    private let service = Mutex<OffService?>(nil)

    /// A link that listens for OFF.
    ///
    /// - Parameters:
    ///   - onStop: Called when OFF is asked for, before it is sent: the command must not switch the pump on any more.
    ///   - note: Where to tell of an OFF that was asked for.
    static func open(
        _ link: any Link, _ context: CommandContext, onStop: (@Sendable () -> Void)? = nil,
        note: @escaping @Sendable (String) -> Void
    ) async -> any Link {
        guard let deviceID = link.deviceID else { return link }
        let held = HeldLink(link)
        let service = await OffService.open(deviceID, on: context.loop) { [weak held] asker in
            guard let held else { return nil }
            onStop?()
            let answer = await held.stop(context)
            // Only now: a terminal that takes no more must not keep OFF from the pump.
            note("pumpctl: \(asker) has asked for OFF")
            return answer
        }
        if service == nil {
            note("pumpctl: no folder for a socket: 'pumpctl off' can't ask this program to switch the device off")
        }
        held.service.withLock { $0 = service }
        return held
    }

    private init(_ link: any Link) { self.link = link }

    /// Switches the device off beside whatever else goes over the link.
    private func stop(_ context: CommandContext) async -> OffAnswer? {
        let row = StopTable.rows.first { $0.family == context.family.rawValue }
        guard row?.bytes != nil else {
            return .failed(
                Failure(
                    .unavailable, code: "no_stop",
                    "\(name) is in use as a device that has no OFF: \(row?.reason ?? "")",
                    outcome: "not_sent"))
        }
        let tap = LinkTap(link)
        taps.withLock { $0[ObjectIdentifier(tap)] = tap }
        defer { _ = taps.withLock { $0.removeValue(forKey: ObjectIdentifier(tap)) } }
        do throws(SessionError) {
            let session = try await PumpSession.begin(over: tap, clock: context.clock, waitsUntilReady: false)
            defer { Task(executorPreference: executor) { await session.close() } }
            // Of its own time-out the other program knows nothing.
            try await session.turnOff(timeout: link.mayHaveReset ? PumpSession.startTime : PumpSession.defaultTimeout)
            return .off
        } catch {
            return error.code == .closed ? nil : .failed(Failure(off: error, at: context.place))
        }
    }

    private func tell(_ arrival: LinkArrival) {
        for tap in taps.withLock({ Array($0.values) }) { tap.take(arrival) }
    }

    // MARK: Link

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if let bytes { tell(.bytes(bytes)) }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        if !bytes.isEmpty { tell(.bytes(bytes)) }
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            // What is gone may be another program's already.
            if case .ended = arrival { Task(executorPreference: self.executor) { await self.closeService() } }
            self.tell(arrival)
            receiver(arrival)
        }
    }

    /// The socket goes first: while it is there, the device is this program's.
    func close() async {
        await closeService()
        await link.close()
    }

    private func closeService() async {
        let service = service.withLock { service in
            defer { service = nil }
            return service
        }
        await service?.close()
    }
}
