import DeviceTestKit
import LineProtocol
import TestSupport

/// The line to a board, with faults and any number of hosts, as behind a shared TCP port. All hosts receive all output
/// of the board.
final class FaultyWire: @unchecked Sendable {
    // @unchecked: used on the executor of the board's link only.

    /// The numbers of the board's lines in 1,000 that are lost, doubled and late.
    struct Faults {
        var lost = 0
        var doubled = 0
        var late = 0
    }

    let board: any Link
    /// The clock for the delay of a late line.
    let clock: ScaledClock
    var faults = Faults()
    var random = SplitMix64(seed: 0)
    private(set) var transcript: [String] = []
    private var links: [WireLink] = []
    /// The board's output since its last line end.
    private var said: [UInt8] = []
    /// The delayed lines, in order.
    private var late: [[UInt8]] = []
    /// Delivers ``late``.
    private var delivering: Task<Void, Never>?

    init(_ board: any Link, _ clock: ScaledClock) {
        self.board = board
        self.clock = clock
    }

    /// Begins to pass the board's lines to the hosts.
    func listen() async {
        await board.forward { [self] arrival in
            guard case .bytes(let bytes) = arrival else { return cut() }
            said += bytes
            while let end = said.firstIndex(of: UInt8(ascii: "\n")) {
                say(Array(said[...end]))
                said.removeSubrange(...end)
            }
        }
    }

    /// Prepares the next run: without faults, links and delayed lines.
    func clear(seed: UInt64) {
        faults = Faults()
        random = SplitMix64(seed: seed)
        transcript = []
        late = []
        delivering?.cancel()
        links = []
    }

    /// Opens a link for one more host.
    func open() -> WireLink {
        links.removeAll { !$0.isOpen }
        let link = WireLink(self)
        links.append(link)
        return link
    }

    /// Loses the links of all hosts.
    func cut() {
        note("the link is lost")
        for link in links { link.end(LinkError(.disconnected, name: link.name, activity: "receive")) }
    }

    func note(_ text: String) { transcript.append(text) }

    /// Passes a line of the board to the hosts, with the faults of the run.
    private func say(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self).debugDescription
        guard random.number(below: 1000) >= faults.lost else { return note("    <- \(text) lost") }
        let isDoubled = random.number(below: 1000) < faults.doubled
        let isLate = random.number(below: 1000) < faults.late
        note("    <- \(text)\(isDoubled ? " twice" : "")\(isLate || !late.isEmpty ? " late" : "")")
        for _ in 0...(isDoubled ? 1 : 0) {
            if isLate || !late.isEmpty { hold(line) } else { arrive(line) }
        }
    }

    /// Delays a line by 100 to 850 ms of the fast clock. Lines that come in this time arrive with it.
    private func hold(_ line: [UInt8]) {
        late.append(line)
        guard late.count == 1 else { return }
        delivering = Task(executorPreference: board.executor) { [self] in
            try? await clock.sleep(for: .milliseconds(100 + random.number(below: 750)))
            guard !Task.isCancelled else { return }
            let due = late
            late = []
            for line in due { arrive(line) }
        }
    }

    private func arrive(_ line: [UInt8]) { for link in links { link.arrive(line) } }
}

/// A host's link on a faulty wire.
final class WireLink: Link, @unchecked Sendable {
    // @unchecked: used on the executor of the board's link only.

    let name = "wire"
    let keepsPacketBounds = false
    let executor: any SerialExecutor & TaskExecutor
    var maximumWriteLength: Int? { nil }

    private let wire: FaultyWire
    private var receiver: (@Sendable (LinkArrival) -> Void)?
    private(set) var isOpen = true
    private var error: LinkError?

    init(_ wire: FaultyWire) {
        self.wire = wire
        executor = wire.board.executor
    }

    func arrive(_ line: [UInt8]) { receiver?(.bytes(line)) }

    func end(_ error: LinkError?) {
        guard isOpen else { return }
        isOpen = false
        self.error = error
        let receiver = receiver
        self.receiver = nil
        receiver?(.ended(error))
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard isOpen else { throw error ?? LinkError(.closed, name: name, activity: "send") }
        wire.note("-> \(String(decoding: bytes, as: UTF8.self).debugDescription)")
        return try wire.board.sendAtOnce(bytes)
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        guard isOpen else { throw error ?? LinkError(.closed, name: name, activity: "send") }
        try await wire.board.send(bytes)
    }

    // Not called: a session gets its input by ``forward(to:)``.
    func receive() async throws(LinkError) -> [UInt8]? { nil }
    func receiveAvailable() async throws(LinkError) -> [UInt8] { [] }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        guard isOpen else { return receiver(.ended(error)) }
        self.receiver = receiver
    }

    func close() async { end(nil) }
}
