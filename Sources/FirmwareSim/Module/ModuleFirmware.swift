package import ModuleDialects

/// What a BLE module does between its UART and its radio: AT commands while no central is connected, and bytes through
/// while one is.
///
/// It has no line of its own: whoever has it hands in the bytes that its UART received, and takes what it does.
package struct ModuleFirmware: Sendable {
    /// What it does.
    package enum Action: Sendable, Hashable {
        /// Says this at its UART.
        case says([UInt8])
        /// Notifies this to the centrals: 20 bytes at most.
        case notifies([UInt8])
        /// Drops the connections.
        case hangsUp
        /// Has its UART at this baud rate from now on.
        case changesRate(Int)
    }

    /// The most bytes of a notification: what the smallest packets of BLE hold.
    package static let packetLength = 20
    /// How long the UART is silent before fewer bytes are notified, or a command that has no end is taken for whole.
    package static let patience = Duration.milliseconds(6)
    /// How long after its answer to a reset it is there again.
    package static let restartTime = Duration.milliseconds(500)
    /// The most bytes that are looked at as a command.
    private static let longestCommand = 64
    /// Its address, as it has it itself.
    private static let address = ["00", "15", "83", "00", "00", "10"]

    package let dialect: ModuleDialect
    /// What it is called, as it was set last.
    package private(set) var name: String
    /// The baud rate of its UART.
    package private(set) var baudRate: Int
    /// Whether it tells its UART of centrals that come and go.
    package private(set) var notifiesUART: Bool
    /// How many centrals are connected.
    package private(set) var centrals = 0

    /// The baud rate that was set last.
    private var storedRate: Int
    /// What the UART has received since it was silent, or since the last notification or command.
    private var collected: [UInt8] = []
    private var lastByteTime = Duration.zero
    private var restartsAt: Duration?
    private var actions: [(action: Action, time: Duration)] = []

    /// A module that is switched on, to which no central is connected.
    package init(
        _ dialect: ModuleDialect, name: String? = nil, baudRate: Int = 9600, notifiesUART: Bool = false
    ) {
        self.dialect = dialect
        self.name = name ?? dialect.factory.name
        self.baudRate = baudRate
        self.notifiesUART = notifiesUART && dialect.notices != nil
        storedRate = baudRate
    }

    /// What it has done since this was last asked.
    package mutating func takeActions() -> [(action: Action, time: Duration)] {
        defer { actions = [] }
        return actions
    }

    // MARK: Time

    /// When it next does anything of its own.
    package var nextActivity: Duration? { [silence, restartsAt].compactMap { $0 }.min() }

    package var isQuiescent: Bool { nextActivity == nil && actions.isEmpty }

    /// When the UART will have been silent long enough; nil while nothing waits for that.
    private var silence: Duration? {
        guard !collected.isEmpty, centrals > 0 || dialect.commandEnd.isEmpty else { return nil }
        return lastByteTime + Self.patience
    }

    /// Lives up to and including `instant`.
    package mutating func run(to instant: Duration) {
        if let time = restartsAt, time <= instant { finishRestart(at: time) }
        if let time = silence, time <= instant { endOfBurst(at: time) }
    }

    // MARK: The UART

    /// A byte whose last bit came at `time`.
    package mutating func receive(_ byte: UInt8, at time: Duration) {
        run(to: time)
        guard restartsAt == nil else { return }
        lastByteTime = time
        if centrals > 0 {
            collected.append(byte)
            if collected.count == Self.packetLength { endOfBurst(at: time) }
            return
        }
        collected.append(byte)
        if collected.count > Self.longestCommand { collected.removeFirst() }
        let end = dialect.commandEnd.utf8
        guard !end.isEmpty, collected.suffix(end.count).elementsEqual(end) else { return }
        let command = String(decoding: collected.dropLast(end.count), as: UTF8.self)
        collected = []
        obey(command, at: time)
    }

    private mutating func endOfBurst(at time: Duration) {
        let bytes = collected
        collected = []
        let text = String(decoding: bytes, as: UTF8.self)
        guard centrals > 0 else { return obey(text, at: time) }
        if dialect.testDisconnects, text == ModuleDialect.test {
            actions.append((.hangsUp, time))
        } else {
            actions.append((.notifies(bytes), time))
        }
    }

    private mutating func say(_ lines: [String], at time: Duration) {
        let text = lines.map { $0 + dialect.lineEnd }.joined()
        actions.append((.says(Array(text.utf8)), time))
    }

    // MARK: Centrals

    /// A central has connected.
    package mutating func connect(at instant: Duration) { setCentrals(centrals + 1, at: instant) }

    /// A central is gone.
    package mutating func disconnect(at instant: Duration) { setCentrals(max(0, centrals - 1), at: instant) }

    private mutating func setCentrals(_ count: Int, at instant: Duration) {
        run(to: instant)
        let wasConnected = centrals > 0
        centrals = count
        guard wasConnected != (count > 0) else { return }
        collected = []
        guard notifiesUART, let notices = dialect.notices else { return }
        say([count > 0 ? notices.connected : notices.lost], at: instant)
    }

    /// What a central has written.
    package mutating func write(_ bytes: [UInt8], at instant: Duration) {
        run(to: instant)
        if centrals > 0 { actions.append((.says(bytes), instant)) }
    }

    // MARK: Restarting

    /// Restarts it, as power that was away does. What was set is kept.
    package mutating func restart(at instant: Duration) {
        run(to: instant)
        collected = []
        if centrals > 0 { actions.append((.hangsUp, instant)) }
        restartsAt = instant + Self.restartTime
    }

    private mutating func finishRestart(at time: Duration) {
        restartsAt = nil
        changeRate(at: time)
    }

    private mutating func changeRate(at time: Duration) {
        guard storedRate != baudRate else { return }
        baudRate = storedRate
        actions.append((.changesRate(baudRate), time))
    }
}

// MARK: - Commands

extension ModuleFirmware {
    private mutating func obey(_ command: String, at time: Duration) {
        if command == ModuleDialect.test { return say([ModuleDialect.testAnswer], at: time) }
        if let answer = answer(to: command) { return say([answer], at: time) }
        if command == dialect.reset.command {
            say(dialect.reset.answer, at: time)
            return restart(at: time)
        }
        if let confirmation = change(by: command) {
            say([confirmation] + [dialect.afterChange].compactMap { $0 }, at: time)
            if dialect.rateChange == .atOnce { changeRate(at: time) }
        } else if let refusal = dialect.refusal {
            say([refusal], at: time)
        }
    }

    /// What a query is answered; nil where the command is none.
    private func answer(to command: String) -> String? {
        let values: [(ModuleDialect.Query?, String?)] = [
            (dialect.version, dialect.factory.version),
            (dialect.address, Self.address.joined(separator: dialect.addressHasColons ? ":" : "")),
            (dialect.role, "0"), (dialect.deviceName.query, name), (dialect.baud.query, dialect.code(of: storedRate)),
            (dialect.notices?.setting.query, notifiesUART ? "1" : "0"),
        ]
        for case (let query?, let value?) in values where query.command == command { return query.answers[0] + value }
        return nil
    }

    /// Changes what a command changes; nil where it changes nothing, or not to that.
    private mutating func change(by command: String) -> String? {
        if let value = Self.value(command, dialect.baud.set) {
            guard let rate = dialect.rate(of: value) else { return nil }
            storedRate = rate
            return dialect.baud.confirmation + value
        }
        if let notices = dialect.notices, let value = Self.value(command, notices.setting.set) {
            guard ["0", "1"].contains(value) else { return nil }
            notifiesUART = value == "1"
            return notices.setting.confirmation + value
        }
        guard let value = Self.value(command, dialect.deviceName.set) else { return nil }
        // What becomes of a longer name is not documented: it is cut here, so that programs are seen to check.
        name = String(decoding: value.utf8.prefix(dialect.longestName ?? .max), as: UTF8.self)
        return dialect.deviceName.confirmation + name
    }

    /// What stands behind `beginning` in a command; nil where that is nothing, or it begins otherwise.
    private static func value(_ command: String, _ beginning: String) -> String? {
        guard command.hasPrefix(beginning), command.count > beginning.count else { return nil }
        return String(command.dropFirst(beginning.count))
    }
}
