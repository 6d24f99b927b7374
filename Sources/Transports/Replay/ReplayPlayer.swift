internal import CaptureFormat
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Plays the device's side of a capture: delivers received bytes once the host has sent all bytes that precede them.
actor ReplayPlayer {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The first act that the host left out by closing the link; nil before the link is closed, and if nothing was left
    /// out.
    nonisolated let leftOver = Mutex<String?>(nil)

    private let inbox: ArrivalInbox
    private let name: String
    private let keepsPacketBounds: Bool
    /// The clock that paces the replay; nil to wait for the host only.
    private let pace: SessionClock?
    /// Called with the error that ends the link if the host departs from the capture.
    private let onDeparture: @Sendable (LinkError) -> Void

    /// The acts of the host that are not compared with the capture yet, and their times by the pace clock.
    private var acts: [(act: ReplayDeparture.Act, time: Duration)] = []
    /// The continuation of ``nextAct()`` while it waits for the host.
    private var waiting: UnsafeContinuation<Void, Never>?
    /// The number of bytes that were delivered since ``bring(_:)`` last waited for the host.
    private var broughtCount = 0
    /// The number of delivered bytes after which ``bring(_:)`` waits for the host.
    private static let turnLength = 1 << 16
    /// The error that ended the link; nil before the end.
    private var end: LinkError?

    init(
        into inbox: ArrivalInbox, name: String, keepsPacketBounds: Bool, pace: SessionClock?,
        onDeparture: @escaping @Sendable (LinkError) -> Void
    ) {
        self.onDeparture = onDeparture
        loop = inbox.loop
        self.inbox = inbox
        self.name = name
        self.keepsPacketBounds = keepsPacketBounds
        self.pace = pace
    }

    // MARK: The host

    /// Stores an act of the host. The act is compared with the capture after all earlier events have been played.
    func take(_ act: ReplayDeparture.Act) throws(LinkError) {
        if var end {
            end.activity = "send"
            throw end
        }
        if case .sends([]) = act { return }
        acts.append((act, pace?.elapsed() ?? .zero))
        resume()
    }

    func close() {
        if end == nil { end = LinkError(.closed, name: name, activity: "receive") }
        resume()
    }

    private func resume() {
        waiting?.resume()
        waiting = nil
    }

    /// Waits for the host's next act and returns it without removing it; nil if the link has ended and no act is left.
    private func nextAct() async -> (act: ReplayDeparture.Act, time: Duration)? {
        while end == nil || !acts.isEmpty {
            if let act = acts.first { return act }
            await withUnsafeContinuation { waiting = $0 }
        }
        return nil
    }

    // MARK: The capture

    /// Plays a link to its end. A further act of the host is then a departure.
    func play(_ tape: consuming ReplayTape) async {
        // The time of the last played event: `here` by the pace clock, `there` in the capture.
        var (here, there) = (pace?.elapsed() ?? .zero, tape.openedAt)
        do throws(CaptureError) {
            while end == nil, let event = try tape.next() {
                guard try await play(event, tape.place, &here, there) else { return }
                there = event.time
                if case .ended = event.content { break }
            }
        } catch {
            return finish(LinkError(.system, name: name, activity: "receive", detail: "\(error)", hint: error.hint))
        }
        if let act = await nextAct()?.act {
            depart(ReplayDeparture(place: tape.end, expected: .nothing, got: act))
        }
    }

    /// Plays one event.
    ///
    /// - Returns: Whether to play the next event.
    private func play(
        _ event: CaptureEvent, _ place: String, _ here: inout Duration, _ there: Duration
    ) async throws(CaptureError) -> Bool {
        switch event.content {
        case .opened: return true
        case .sent(let piece):
            guard let time = await expect(piece.bytes, place) else { return false }
            here = max(here, time)
        case .breakSent:
            guard let (act, time) = await nextAct() else { return leave(.sendsBreak, place) }
            guard act == .sendsBreak else { return depart(from: .sendsBreak, place) }
            acts.removeFirst()
            here = max(here, time)
        case .received(let piece):
            guard await wait(event.time - there, &here) else { return false }
            await bring(piece.bytes)
        case .ended(let code?, let detail):
            guard await wait(event.time - there, &here) else { return false }
            let code = LinkError.Code(rawValue: code) ?? .disconnected
            finish(LinkError(code, name: name, activity: "receive", detail: detail))
        case .ended(nil, _): break
        }
        return true
    }

    /// Delivers received bytes without waiting for the host. Only after each 64 KiB, waits until the host has taken the
    /// delivered bytes, so that memory stays small.
    private func bring(_ bytes: [UInt8]) async {
        handIn(bytes)
        broughtCount += bytes.count
        guard broughtCount >= Self.turnLength else { return }
        broughtCount = 0
        await inbox.untilTaken()
        // A host that has the bytes forwarded takes them at once: let the other jobs of the loop run all the same.
        await Task.yield()
    }

    /// Appends to the inbox synchronously: both actors run on the same loop.
    private func handIn(_ bytes: [UInt8]) { inbox.assumeIsolated { $0.append(bytes) } }

    /// Waits until `time` after the last played event, and moves `here` to this time. Without a pace, returns at once.
    ///
    /// - Returns: Whether to deliver the event; false if the link has ended, or the task was cancelled.
    private func wait(_ time: Duration, _ here: inout Duration) async -> Bool {
        if let pace {
            here += max(time, .zero)
            if (try? await pace.sleep(here)) == nil { return false }
        }
        return end == nil
    }

    /// Waits until the host has sent `bytes`: as one packet if the carrier keeps packet bounds, otherwise in any
    /// pieces.
    ///
    /// - Returns: The time of the last piece; nil if the link ended, or the host departed from the capture.
    private func expect(_ bytes: [UInt8], _ place: String) async -> Duration? {
        var rest = bytes[...]
        var time = Duration.zero
        while !rest.isEmpty {
            guard let next = await nextAct() else {
                _ = leave(.sends(Array(rest)), place)
                return nil
            }
            guard case .sends(let sent) = next.act else {
                _ = depart(from: .sends(Array(rest)), place)
                return nil
            }
            let isExpected = keepsPacketBounds ? sent == bytes : sent.starts(with: rest) || rest.starts(with: sent)
            guard isExpected else {
                _ = depart(from: .sends(Array(rest)), place)
                return nil
            }
            time = next.time
            if sent.count > rest.count {
                acts[0].act = .sends(Array(sent[rest.count...]))
                break
            }
            acts.removeFirst()
            rest = rest.dropFirst(sent.count)
        }
        return time
    }

    // MARK: The end

    /// Ends the link because the next act of the host is not `expected`. Returns false: no further event is played.
    private func depart(from expected: ReplayDeparture.Act, _ place: String) -> Bool {
        depart(ReplayDeparture(place: place, expected: expected, got: acts.first?.act ?? .nothing))
        return false
    }

    private func depart(_ departure: ReplayDeparture) {
        let error = LinkError(
            .disconnected, name: name, activity: "receive", detail: "\(departure)",
            hint: "compare with the capture: pumpctl replay FILE")
        onDeparture(error)
        finish(error)
    }

    /// Notes the act that the host left out by closing the link. Returns false: no further event is played.
    private func leave(_ expected: ReplayDeparture.Act, _ place: String) -> Bool {
        let departure = ReplayDeparture(place: place, expected: expected, got: .nothing)
        leftOver.withLock { $0 = "\(departure)" }
        return false
    }

    private func finish(_ error: LinkError) {
        guard end == nil else { return }
        end = error
        resume()
        inbox.assumeIsolated { $0.finish(error) }
    }
}
