public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A link that a program keeps open for long. While the link is open, other programs of the same user can request OFF
/// over it, by an ``OffRequest``.
///
/// ```swift
/// let held = await HeldLink.open(try await LinkSchemes.families.open(endpoint), of: .pump) { print($0) }
/// ```
public final class HeldLink: LinkWrapper {
    /// An occurrence that is not part of the traffic on the link.
    public enum Report: Sendable, Hashable {
        /// The process requested OFF, and the attempt to switch the device off has ended, successfully or not.
        case asked(byProcess: Int32)
        /// No socket could be opened, for example because there is no folder for it, so other programs can't request
        /// OFF.
        case unreachable
    }

    public let link: any Link
    /// The second users of the link, one for each running attempt to switch the device off.
    private let taps = Mutex<[ObjectIdentifier: LinkTap]>([:])
    private let service = Mutex<OffService?>(nil)

    /// Wraps `link` so that other programs can request OFF. Returns `link` itself if it has no
    /// `Link.deviceID`.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - family: The family of the device.
    ///   - loop: The event loop of the socket.
    ///   - onStop: Called at each request for OFF, before OFF is sent; must not block. From then on the holder must not
    ///     switch the device on.
    ///   - explain: Describes to the requesting program why the device is not known to be off.
    ///   - note: Receives the reports.
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
            // Reported only after OFF: a blocked terminal must not delay OFF.
            note(.asked(byProcess: asker))
            return answer
        }
        if service == nil { note(.unreachable) }
        held.service.withLock { $0 = service }
        return held
    }

    private init(_ link: any Link) { self.link = link }

    /// Switches the device off while the holder goes on using the link. Returns nil if the link was closed during the
    /// attempt.
    private func stop(
        _ family: Family, _ clock: EventLoopClock, _ explain: @Sendable (OffProblem) -> OffFailure
    ) async -> OffAnswer? {
        guard let stop = family.wire.stop else { return .failed(explain(OffProblem(.noStop, family, at: name))) }
        let tap = LinkTap(link)
        taps.withLock { $0[ObjectIdentifier(tap)] = tap }
        defer { _ = taps.withLock { $0.removeValue(forKey: ObjectIdentifier(tap)) } }
        do throws(SessionError) {
            // The request does not contain the time-out of the requesting program, so use the default.
            try await stop(tap, link.mayHaveReset ? PumpSession.startTime : PumpSession.defaultTimeout, clock)
            return .off
        } catch {
            return error.code == .closed ? nil : .failed(explain(OffProblem(.session(error), family, at: name)))
        }
    }

    /// Passes an arrival to the taps on the link's executor, where their sessions run.
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
            // Once the link has ended, another program may own the device, and requests for OFF must reach that
            // program.
            if case .ended = arrival { Task(executorPreference: self.executor) { await self.closeService() } }
            self.tell(arrival)
            receiver(arrival)
        }
    }

    /// Closes the socket first, because the socket should exist only while this program owns the device.
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
