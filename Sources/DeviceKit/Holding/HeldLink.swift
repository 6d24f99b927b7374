public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A link that a program has for a long time. While it is open, another program of the same user can have the device
/// switched off over it, by an ``OffRequest``.
///
/// ```swift
/// let held = await HeldLink.open(try await LinkSchemes.families.open(endpoint), of: .pump) { print($0) }
/// ```
public final class HeldLink: LinkWrapper {
    /// What comes to light beside what goes over the link.
    public enum Report: Sendable, Hashable {
        /// The program of that process has asked for OFF, and was answered.
        case asked(byProcess: Int32)
        /// There is no folder for a socket: no other program can ask for OFF.
        case unreachable
    }

    public let link: any Link
    private let taps = Mutex<[ObjectIdentifier: LinkTap]>([:])
    private let service = Mutex<OffService?>(nil)

    /// A link that listens for OFF; `link` itself where nothing tells its device from others.
    ///
    /// - Parameters:
    ///   - family: What the device is.
    ///   - loop: What the socket is attended to on.
    ///   - onStop: Called when OFF is asked for, before it is sent: whoever has the link must not switch the device on any
    ///     more.
    ///   - explain: Words for the other program why the device is not known to be off.
    ///   - note: Told what comes to light.
    public static func open(
        _ link: any Link, of family: Family, on loop: EventLoop = .shared,
        onStop: (@Sendable () -> Void)? = nil,
        explain: @escaping @Sendable (OffProblem) -> OffFailure = { OffFailure($0) },
        note: @escaping @Sendable (Report) -> Void
    ) async -> any Link {
        guard let deviceID = link.deviceID else { return link }
        let held = HeldLink(link)
        let service = await OffService.open(deviceID, on: loop) { [weak held] asker in
            guard let held else { return nil }
            onStop?()
            let answer = await held.stop(family, EventLoopClock(loop), explain)
            // Only now: a terminal that takes no more must not keep OFF from the pump.
            note(.asked(byProcess: asker))
            return answer
        }
        if service == nil { note(.unreachable) }
        held.service.withLock { $0 = service }
        return held
    }

    private init(_ link: any Link) { self.link = link }

    /// Switches the device off beside whatever else goes over the link; nil where the link was closed meanwhile.
    private func stop(
        _ family: Family, _ clock: EventLoopClock, _ explain: @Sendable (OffProblem) -> OffFailure
    ) async -> OffAnswer? {
        guard let stop = family.wire.stop else { return .failed(explain(OffProblem(.noStop, family, at: name))) }
        let tap = LinkTap(link)
        taps.withLock { $0[ObjectIdentifier(tap)] = tap }
        defer { _ = taps.withLock { $0.removeValue(forKey: ObjectIdentifier(tap)) } }
        do throws(SessionError) {
            // Of its own time-out the other program knows nothing.
            try await stop(tap, link.mayHaveReset ? PumpSession.startTime : PumpSession.defaultTimeout, clock)
            return .off
        } catch {
            return error.code == .closed ? nil : .failed(explain(OffProblem(.session(error), family, at: name)))
        }
    }

    /// Tells the taps from wherever a reader runs: the sessions on them are on the link's executor.
    private func tellOnExecutor(_ arrival: LinkArrival) async {
        if executor.isIsolatingCurrentContext() == true { return tell(arrival) }
        await Task(executorPreference: executor) { self.tell(arrival) }.value
    }

    private func tell(_ arrival: LinkArrival) {
        for tap in taps.withLock({ Array($0.values) }) { tap.take(arrival) }
    }

    // MARK: Link

    public func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if let bytes { await tellOnExecutor(.bytes(bytes)) }
        return bytes
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        if !bytes.isEmpty { await tellOnExecutor(.bytes(bytes)) }
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            // What is gone may be another program's already.
            if case .ended = arrival { Task(executorPreference: self.executor) { await self.closeService() } }
            self.tell(arrival)
            receiver(arrival)
        }
    }

    /// The socket goes first: while it is there, the device is this program's.
    public func close() async {
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
