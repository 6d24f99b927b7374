internal import CaptureFormat
internal import DescriptorIO
internal import LineProtocol
internal import Synchronization

/// Plays the device's side of a capture: brings what was received once the host has sent all that was sent before.
actor ReplayPlayer {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// What is still to be sent where the host has closed the link; nil before, and where nothing is.
    nonisolated let leftOver = Mutex<String?>(nil)

    private let inbox: ArrivalInbox
    private let name: String
    private let keepsPacketBounds: Bool
    /// What times are measured by; nil where nothing is waited for but the host.
    private let pace: SessionClock?
    /// Called when the host departs from the capture, with the error that ends the link.
    private let onDeparture: @Sendable (LinkError) -> Void

    /// What the host has done that was not compared yet, and when.
    private var acts: [(act: ReplayDeparture.Act, time: Duration)] = []
    private var waiting: UnsafeContinuation<Void, Never>?
    /// How many bytes were brought since the host had its turn.
    private var broughtCount = 0
    private static let turnLength = 1 << 16
    /// Why the link has ended; nil while it has not.
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

    /// Takes what the host does. It is compared once what was received before has come.
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

    /// The next that the host does, which stays where it is; nil once the link has ended.
    private func nextAct() async -> (act: ReplayDeparture.Act, time: Duration)? {
        while end == nil || !acts.isEmpty {
            if let act = acts.first { return act }
            await withUnsafeContinuation { waiting = $0 }
        }
        return nil
    }

    // MARK: The capture

    /// Plays a link to its end, and then waits for a host that does more.
    func play(_ tape: consuming ReplayTape) async {
        // When, by the pace, the event that was played last has happened here, and in the capture.
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

    /// - Returns: Whether to go on.
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

    /// Hands in what was received. A host that reacts to it does so behind all that came before it reacted when it was
    /// captured, unless that was much: then it has its turn in between, and memory stays small.
    private func bring(_ bytes: [UInt8]) async {
        handIn(bytes)
        broughtCount += bytes.count
        guard broughtCount >= Self.turnLength else { return }
        broughtCount = 0
        await inbox.untilTaken()
        await Task.yield()
    }

    /// At once, as the inbox is on the same loop.
    private func handIn(_ bytes: [UInt8]) { inbox.assumeIsolated { $0.append(bytes) } }

    /// Waits for its time.
    ///
    /// - Returns: Whether the link is still there.
    private func wait(_ time: Duration, _ here: inout Duration) async -> Bool {
        if let pace {
            here += max(time, .zero)
            if (try? await pace.sleep(here)) == nil { return false }
        }
        return end == nil
    }

    /// Waits until the host has sent bytes: in one piece where packets are kept, else however it was cut.
    ///
    /// - Returns: When it had sent the last of them; nil where it has not.
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
