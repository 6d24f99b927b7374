public import BlueZ
public import FirmwareSim

/// The storm sensor over BLE: one characteristic notifies of raw measurements; the other takes `GET_LOG`, and notifies
/// of the log and of live rows.
///
/// Each notification is a piece of the log, or a live row without a line end. The log is read as it is sent, so that a
/// log of any length needs only the memory of one block. A live row is not cut: if the row and its prefix don't fit
/// into a packet of the central that has asked for the log, only the live characteristic notifies of the row. The size
/// of packets is unknown until a central asks for the log. Until then, bluetoothd cuts notifications that are too long.
///
/// ```swift
/// var storm = StormPeripheral(options: StormFirmwareOptions(rows: 3))
/// storm.take(.connected, at: .zero)
/// storm.take(.wrote(Array("GET_LOG".utf8), to: StormPeripheral.backup, mtu: 517), at: .zero)
/// _ = storm.advance(to: .seconds(1))  // LOG Values: 2 2 48 -347.10 …
/// ```
public struct StormPeripheral: SimulatedPeripheral {
    /// The service of both characteristics.
    public static let service: BluetoothUUID = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
    /// The characteristic that notifies of raw measurements.
    public static let live: BluetoothUUID = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"
    /// The characteristic that takes `GET_LOG`, and notifies of the log and of live rows.
    public static let backup: BluetoothUUID = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
    /// The default time from one notification of the log to the next. An ESP32 that sends faster loses notifications.
    public static let defaultPause = Duration.milliseconds(10)

    /// The options of this sensor. Their line rate has no effect, because the sensor has no line.
    public private(set) var options: StormFirmwareOptions
    public let offered: PeripheralDescription
    /// The time from one notification of the log to the next; zero to send notifications as fast as the central takes
    /// them.
    public let pause: Duration
    /// The number of stored rows.
    public var rowCount: Int { store.rowCount }
    /// The measurements of the sensor.
    public var log: StormLog { store.log }

    private var now = Duration.zero
    private var store: StormStore
    /// The number of connected centrals.
    private var centrals = 0
    /// The most bytes of a notification to the central that last asked for the log; nil until a central asks, and after
    /// the last central has left.
    private var packetLength: Int?
    /// The part of the log that was read and not sent, with the log's prefix.
    private var unsent: [UInt8] = []
    /// The instant at which the next piece of the log is sent; nil if there is none.
    private var pieceDue: Duration?
    private var emissions: [Emission] = []

    /// Creates a sensor that has been powered for a while. Its first measurement follows after one interval.
    ///
    /// - Parameters:
    ///   - options: The options of the sensor.
    ///   - name: The name over BLE.
    ///   - pause: The time from one notification of the log to the next; zero to send notifications as fast as the
    ///     central takes them.
    public init(
        options: StormFirmwareOptions = StormFirmwareOptions(), name: String = "storm", pause: Duration = defaultPause
    ) {
        self.options = options
        self.pause = pause
        store = StormStore(options)
        offered = PeripheralDescription(
            name: name,
            services: [
                LocalService(
                    Self.service,
                    [LocalCharacteristic(Self.live, [.notify]), LocalCharacteristic(Self.backup, [.write, .notify])])
            ])
    }

    // MARK: Centrals

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        run(to: instant)
        switch event {
        case .connected: centrals += 1
        case .disconnected:
            centrals = max(0, centrals - 1)
            guard centrals == 0 else { return }
            // No central is left to receive the rest.
            stopSending()
            packetLength = nil
        case .wrote(Array("GET_LOG".utf8), to: Self.backup, let mtu):
            sendLog(in: min(mtu - 3, LocalCharacteristic.longestValue))
        // The protocol names only `GET_LOG`; any other write is ignored.
        case .wrote, .subscribed, .unsubscribed: break
        }
    }

    // MARK: The device

    /// Ignores the bytes: the sensor has no line.
    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {}

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: instant)
        defer { emissions = [] }
        return emissions
    }

    public var nextActivity: Duration? { emissions.isEmpty ? nextDue : now }

    public var isQuiescent: Bool { pieceDue == nil && emissions.isEmpty }

    /// Resets the board. Output that has not been sent is lost, but the log is not.
    public mutating func reset(at instant: Duration) {
        run(to: instant)
        store.reset(at: now)
        stopSending()
    }

    public static var verbs: [DeviceVerb<StormPeripheral>] {
        [
            DeviceVerb("measure", help: "Measure now.") { storm, _, now in
                storm.run(to: now)
                storm.measure()
            }
        ]
    }

    public static var settings: [DeviceSetting<StormPeripheral>] { StormStore.settings(\.options, \.store) }

    public var observations: [String: ObservedValue] {
        ["rows": .integer(rowCount), "centrals": .integer(centrals)]
    }

    private var nextDue: Duration? { [pieceDue, store.measurementDue].compactMap { $0 }.min() }

    private mutating func run(to limit: Duration) {
        while let next = nextDue, next <= limit {
            now = max(now, next)
            if let due = store.measurementDue, due <= now { measure() }
            if let due = pieceDue, due <= now { sendPieces() }
        }
        now = max(now, limit)
    }

    // MARK: The program

    /// Begins to send the log. There is one transfer at a time: another request restarts the log.
    private mutating func sendLog(in packetLength: Int) {
        self.packetLength = packetLength
        if options.echoesCommand { notify(Array("GET_LOG".utf8), of: Self.backup) }
        store.beginReading()
        unsent = Array("LOG Values: ".utf8)
        pieceDue = now + StormStore.blockTime
    }

    /// Sends the next piece of the log, or all pieces of a block if there is no pause between them.
    private mutating func sendPieces() {
        guard let packetLength else { return }
        if unsent.count < packetLength, store.isReading { unsent += store.readBlock() }
        var start = 0
        // The rest of a block that does not fill a packet waits for the next block, except at the end of the log.
        repeat {
            let end = min(start + packetLength, unsent.count)
            notify(Array(unsent[start..<end]), of: Self.backup)
            start = end
        } while pause == .zero && start < unsent.count && (unsent.count - start >= packetLength || !store.isReading)
        unsent.removeFirst(start)
        pieceDue = unsent.isEmpty && !store.isReading ? nil : now + max(pause, StormStore.blockTime)
    }

    /// Drops the rest of the log.
    private mutating func stopSending() {
        store.stopReading()
        unsent = []
        pieceDue = nil
    }

    /// Measures, and notifies the connected centrals of the row.
    private mutating func measure() {
        let row = store.measure(at: now)
        guard centrals > 0 else { return }
        notify(row, of: Self.live)
        let backupRow = Array("LIVE LOG: ".utf8) + row
        if packetLength.map({ backupRow.count <= $0 }) ?? true { notify(backupRow, of: Self.backup) }
    }

    private mutating func notify(_ bytes: [UInt8], of characteristic: BluetoothUUID) {
        emissions.append(Emission(bytes: bytes, time: now, characteristic: characteristic))
    }
}

extension StormPeripheral {
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        StormFirmware.objection(to: command, isPacket: isPacket)
    }
}
