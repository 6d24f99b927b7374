internal import ModuleDialects

/// A BLE module whose UART is the line, as on a bench where the module is attached to a USB adapter: an HM-10, or one
/// of its clones.
///
/// While no central is connected, the module answers the AT commands of its dialect. While a central is connected,
/// bytes pass through in both directions. The central is a real central over BLE, or is played by ``verbs``: `connect`,
/// `central`, `disconnect`.
///
/// ```swift
/// var module = SimulatedModule(dialect: "cc41-a")
/// module?.receive(Array("AT\r\n".utf8), at: .zero)
/// module?.advance(to: .seconds(1))  // OK
/// ```
public struct SimulatedModule: SimulatedDevice {
    /// The output of the module's notifications: the characteristic FFE1.
    package static let notificationOutput: UInt128 = 0x0000_FFE1_0000_1000_8000_0080_5F9B_34FB
    /// The number of notified bytes that are kept for the played central.
    private static let memory = 256

    private var firmware: ModuleFirmware
    private let isPaced: Bool
    private var line: SerialLine
    /// The line at the new baud rate, which replaces ``line`` when earlier output has left.
    private var nextLine: SerialLine?
    private var now = Duration.zero
    private var emissions: [Emission] = []
    private var carrierEvents: [CarrierEvent] = []
    /// Whether a central played by the verb `connect` is connected.
    private var isCentralPlayed = false
    /// The last bytes that the played central was notified of.
    private var heardByCentral: [UInt8] = []

    /// Creates a module without a connected central. By default, the module has its maker's settings.
    ///
    /// - Parameters:
    ///   - dialect: The dialect of the AT commands: `hm-10`, `cc41-a` or `mlt-bt05`.
    ///   - name: The name of the module; nil for the maker's name.
    ///   - lineRate: The rate of the UART. A module with an unlimited rate at first reports 9600 baud.
    ///   - notifiesUART: Whether the module reports connecting and leaving centrals at its UART, if its dialect can.
    /// - Returns: nil if there is no such dialect.
    public init?(
        dialect: String, name: String? = nil, lineRate: LineRate = .baud(9600), notifiesUART: Bool = false
    ) {
        guard let dialect = ModuleDialect.named(dialect) else { return nil }
        var rate = 9600
        if case .baud(let given) = lineRate { rate = given }
        firmware = ModuleFirmware(dialect, name: name, baudRate: rate, notifiesUART: notifiesUART)
        isPaced = lineRate != .unlimited
        line = SerialLine(rate: lineRate)
    }

    /// The name that was set last, or the initial name.
    public var name: String { firmware.name }
    /// The baud rate of the UART, in bits per second.
    public var baudRate: Int { firmware.baudRate }
    /// Whether a central is connected.
    public var isConnected: Bool { firmware.centrals > 0 }

    // MARK: Centrals

    /// Records that a central has connected.
    public mutating func connect(at instant: Duration) {
        run(to: max(now, instant))
        firmware.connect(at: now)
        act()
    }

    /// Records that a central has disconnected.
    public mutating func disconnect(at instant: Duration) {
        run(to: max(now, instant))
        firmware.disconnect(at: now)
        act()
    }

    /// Receives bytes that a central has written to FFE1.
    public mutating func write(_ bytes: [UInt8], at instant: Duration) {
        run(to: max(now, instant))
        firmware.write(bytes, at: now)
        act()
    }

    // MARK: The line

    public static var isStream: Bool { true }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        // One by one, because a silence between two bytes may end a command.
        for byte in bytes { line.send([byte], at: max(instant, now)) }
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: max(now, instant))
        defer { emissions = [] }
        return emissions
    }

    /// Returns, once, the carrier events since the last call: the module drops its connections at a restart, or when a
    /// command demands it.
    public mutating func takeCarrierEvents() -> [CarrierEvent] {
        defer { carrierEvents = [] }
        return carrierEvents
    }

    public var nextActivity: Duration? {
        guard emissions.isEmpty else { return now }
        return [line.nextArrival, line.nextDeparture, firmware.nextActivity].compactMap { $0 }.min()
    }

    public var isQuiescent: Bool {
        line.isIdle && line.nextArrival == nil && firmware.isQuiescent && emissions.isEmpty
    }

    /// Interrupts the module's power for a moment: centrals are disconnected, and a new baud rate takes effect.
    public mutating func reset(at instant: Duration) {
        run(to: max(now, instant))
        line.clear()
        firmware.restart(at: now)
        act()
    }

    private mutating func run(to limit: Duration) {
        while let next = [line.nextArrival, line.nextDeparture, firmware.nextActivity].compactMap({ $0 }).min(),
            next <= limit
        {
            step(to: max(now, next))
        }
        step(to: limit)
    }

    private mutating func step(to instant: Duration) {
        now = instant
        emissions += line.transmit(until: now)
        if let next = nextLine, line.isIdle { (line, nextLine) = (next, nil) }
        for byte in line.receive(by: now) { firmware.receive(byte, at: now) }
        firmware.run(to: now)
        act()
    }

    /// Performs the actions of the firmware.
    private mutating func act() {
        for (action, time) in firmware.takeActions() {
            switch action {
            case .says(let bytes): line.write(bytes, at: now)
            case .notifies(let bytes):
                emissions.append(Emission(bytes: bytes, time: time, output: Self.notificationOutput))
                if isCentralPlayed { heardByCentral = (heardByCentral + bytes).suffix(Self.memory) }
            case .hangsUp:
                carrierEvents.append(CarrierEvent(action: .hangUp, time: time))
                if isCentralPlayed {
                    isCentralPlayed = false
                    firmware.disconnect(at: now)
                    act()
                }
            case .changesRate(let rate):
                // Output under way must leave at the old rate to be understood.
                let changed = SerialLine(rate: isPaced ? .baud(rate) : .unlimited)
                if line.isIdle { line = changed } else { nextLine = changed }
            }
        }
    }
}

extension SimulatedModule {
    public static var verbs: [DeviceVerb<SimulatedModule>] {
        [
            DeviceVerb("connect", help: "Connect a central, as a phone does.") { module, _, now in
                guard !module.isCentralPlayed else { return }
                module.isCentralPlayed = true
                module.heardByCentral = []
                module.connect(at: now)
            },
            DeviceVerb("disconnect", help: "Disconnect the central.") { module, _, now in
                guard module.isCentralPlayed else { return }
                module.isCentralPlayed = false
                module.disconnect(at: now)
            },
            DeviceVerb(
                "central", [SimulatorOption("text", .text, help: "The text to write.")],
                help: "Have the central write a text; without a central, the text is lost."
            ) { module, values, now in
                module.write(Array((values.text("text") ?? "").utf8), at: now)
            },
        ]
    }

    public var observations: [String: ObservedValue] {
        [
            "dialect": .text(firmware.dialect.name), "name": .text(name), "baud": .integer(baudRate),
            "connected": .boolean(isConnected), "notices": .boolean(firmware.notifiesUART),
            "central_heard": .text(String(decoding: heardByCentral, as: UTF8.self)),
        ]
    }
}
