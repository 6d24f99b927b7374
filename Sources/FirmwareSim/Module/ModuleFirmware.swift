package import ModuleDialects

/// The firmware of a BLE module, between the module's UART and radio. The firmware answers AT commands while no central
/// is connected, and passes bytes through while a central is connected.
///
/// The module has no line of its own. Its owner passes in the bytes that the UART received, and performs the actions
/// that ``takeActions()`` returns.
package struct ModuleFirmware: Sendable {
    /// An action of the module.
    package enum Action: Sendable, Hashable {
        /// Sends these bytes at the UART.
        case says([UInt8])
        /// Notifies the centrals of these bytes, at most 20.
        case notifies([UInt8])
        /// Drops the connections.
        case hangsUp
        /// Sets the UART to this baud rate, in bits per second.
        case changesRate(Int)
    }

    /// The most bytes of a notification, which fit into the smallest packets of BLE.
    package static let packetLength = 20
    /// The silence of the UART after which fewer than ``packetLength`` bytes are notified, or after which a command is
    /// complete in a dialect whose commands have no end. The value is chosen: some six bytes at 9600 baud.
    package static let patience = Duration.milliseconds(6)
    /// The time from the beginning of a restart until the module works again. The documents of the HM-10 say that the
    /// module restarts 500 ms after `OK+RESET`.
    package static let restartTime = Duration.milliseconds(500)
    /// The number of bytes of a command that are kept; of a longer command, the last ones.
    private static let longestCommand = 64
    /// The module's own address, byte by byte.
    private static let address = ["00", "15", "83", "00", "00", "10"]

    /// The dialect of the module's AT commands.
    package let dialect: ModuleDialect
    /// The name that was set last, or the initial name.
    package private(set) var name: String
    /// The baud rate of the UART, in bits per second.
    package private(set) var baudRate: Int
    /// Whether the module reports connecting and leaving centrals at its UART.
    package private(set) var notifiesUART: Bool
    /// The number of connected centrals.
    package private(set) var centrals = 0

    /// The baud rate that was set last. Depending on the dialect, the rate takes effect at once or after a restart.
    private var storedRate: Int
    /// The bytes that the UART has received and that were not yet notified, or obeyed as a command.
    private var collected: [UInt8] = []
    private var lastByteTime = Duration.zero
    /// The instant at which the module works again after a restart; nil if it is not restarting.
    private var restartsAt: Duration?
    private var actions: [(action: Action, time: Duration)] = []

    /// Creates a module that is switched on, without a connected central.
    package init(
        _ dialect: ModuleDialect, name: String? = nil, baudRate: Int = 9600, notifiesUART: Bool = false
    ) {
        self.dialect = dialect
        self.name = name ?? dialect.factory.name
        self.baudRate = baudRate
        self.notifiesUART = notifiesUART && dialect.notices != nil
        storedRate = baudRate
    }

    /// Returns, once, the actions since the last call, for the owner to perform.
    package mutating func takeActions() -> [(action: Action, time: Duration)] {
        defer { actions = [] }
        return actions
    }

    // MARK: Time

    /// The instant of the module's next activity of its own; nil for never.
    package var nextActivity: Duration? { [silence, restartsAt].compactMap { $0 }.min() }

    package var isQuiescent: Bool { nextActivity == nil && actions.isEmpty }

    /// The instant at which the UART will have been silent for ``patience``; nil if nothing waits for the silence.
    private var silence: Duration? {
        guard !collected.isEmpty, centrals > 0 || dialect.commandEnd.isEmpty else { return nil }
        return lastByteTime + Self.patience
    }

    /// Runs the module up to and including `instant`.
    package mutating func run(to instant: Duration) {
        if let time = restartsAt, time <= instant { finishRestart(at: time) }
        if let time = silence, time <= instant { endOfBurst(at: time) }
    }

    // MARK: The UART

    /// Receives a byte whose last bit came at `time`.
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

    /// Handles the collected bytes after a silence, or when they fill a notification: notifies of them, or drops the
    /// connections if they are `AT`, in some dialects. While no central is connected, obeys them as a command.
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

    /// Sends lines at the UART, with the line end of the dialect.
    private mutating func say(_ lines: [String], at time: Duration) {
        let text = lines.map { $0 + dialect.lineEnd }.joined()
        actions.append((.says(Array(text.utf8)), time))
    }

    // MARK: Centrals

    /// Records that a central has connected.
    package mutating func connect(at instant: Duration) { setCentrals(centrals + 1, at: instant) }

    /// Records that a central has disconnected.
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

    /// Sends a central's bytes at the UART. Without a connected central, they are lost.
    package mutating func write(_ bytes: [UInt8], at instant: Duration) {
        run(to: instant)
        if centrals > 0 { actions.append((.says(bytes), instant)) }
    }

    // MARK: Restarting

    /// Restarts the module, as a loss of power does. Settings are kept.
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

    /// Sets the UART to the stored rate.
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

    /// Returns the answer to a query; nil if the command is no query of the dialect.
    private func answer(to command: String) -> String? {
        let values: [(ModuleDialect.Query?, String?)] = [
            (dialect.version, dialect.factory.version),
            (dialect.address, Self.address.joined(separator: dialect.addressHasColons ? ":" : "")),
            // 0: the peripheral role, the only one that is simulated.
            (dialect.role, "0"), (dialect.deviceName.query, name), (dialect.baud.query, dialect.code(of: storedRate)),
            (dialect.notices?.setting.query, notifiesUART ? "1" : "0"),
        ]
        for case (let query?, let value?) in values where query.command == command { return query.answers[0] + value }
        return nil
    }

    /// Obeys a command that changes a setting. Returns the confirmation; nil if the module does not know the command or
    /// rejects its value.
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
        // No document says what happens to a longer name. A cut name shows whether programs check the confirmation.
        name = String(decoding: value.utf8.prefix(dialect.longestName ?? .max), as: UTF8.self)
        return dialect.deviceName.confirmation + name
    }

    /// Returns the value that follows `beginning` in a command; nil if the command has another beginning or no value.
    private static func value(_ command: String, _ beginning: String) -> String? {
        guard command.hasPrefix(beginning), command.count > beginning.count else { return nil }
        return String(command.dropFirst(beginning.count))
    }
}
