internal import ControlProtocol
internal import DescriptorIO
internal import DeviceKit
internal import LineProtocol
internal import RecordFormat
internal import SerialPort
internal import StrictJSON
internal import Transports

/// A validated request, with its devices looked up.
enum ControlVerb {
    case devices
    /// Describes these families as data.
    case describe([Family])
    /// Sends a line to a device. `by` is the name of the program, as ``ControlConnection/sender(_:)`` returns it.
    case line(SharedDevice, ClientLine, by: String)
    case state(SharedDevice)
    /// Starts subscriptions to these kinds of events, and starts or ends polling; nil leaves polling as it is.
    case subscribe([SharedDevice], Set<DeviceWatch.Kind>, polls: Bool?)
    /// Ends subscriptions to these kinds of events. Without any kind left, polling ends too.
    case unsubscribe([SharedDevice], Set<DeviceWatch.Kind>)
    case attach(SharedDevice)
    /// Lists the serial ports of the computer.
    case ports
    /// Scans for BLE devices for this many seconds, and lists the devices in sight at the end.
    case scan(seconds: Int)
    /// Checks what may be in the way of reaching the device of an endpoint, or any device.
    case findings(Endpoint?)
    /// Describes the verbs by which a simulated device is controlled.
    case simulator(SharedDevice)
    /// Presses a button, turns a knob or does anything else at a simulated device.
    case simulate(SimulatorAction)
    /// Reads recorded values.
    case history(HistoryReading.Request)
    /// Reads this many stored messages of the rescue app.
    case messages(Int)
    /// Fetches a content. `by` is the name of the program, as ``ControlConnection/sender(_:)`` returns it.
    case transfer(Transfer, by: String)
    /// Ends the transfer that the request with this ID has begun.
    case cancel(JSONValue)

    /// Whether the request makes a device safe.
    var isStop: Bool { if case .line(_, let line, _) = self { line.isStop } else { false } }

    /// Whether the request may change the device, in another way than a stop.
    var mayChange: Bool {
        switch self {
        case .line(_, let line, _): line.mayChange
        case .simulate: true
        default: false
        }
    }
}

extension ControlConnection {
    // MARK: Reading

    /// Parses a request. All of its arguments are checked before anything is done.
    func verb(of request: ControlRequest) throws(ControlFailure) -> ControlVerb {
        var arguments = request.arguments
        let verb: ControlVerb
        switch request.verb {
        case "devices": verb = .devices
        case "describe": verb = .describe(try families(arguments.optionalText("family")))
        case "command":
            let device = try device(arguments.text("device"))
            let name = try arguments.text("name")
            let line = device.row.read(try device.settings.family.line(of: name, arguments.object("parameters")))
            try check(arguments.optionalText("effect"), of: line, name)
            verb = .line(device, line, by: try sender(&arguments))
        case "stop":
            let device = try device(arguments.text("device"))
            verb = .line(device, try stop(of: device), by: try sender(&arguments))
        case "ports": verb = .ports
        case "scan":
            guard let seconds = try arguments.optionalInteger("seconds"), (1...30).contains(seconds) else {
                throw .usage("'seconds' must be 1 to 30")
            }
            verb = .scan(seconds: seconds)
        case "findings":
            verb = .findings(try arguments.optionalText("device").map(device)?.settings.endpoint)
        case "send":
            let device = try device(arguments.text("device"))
            let line = Array(try arguments.text("line").utf8)
            guard line.isOneLine else { throw .usage("'line' must be one line, without its end") }
            verb = .line(device, device.row.read(line), by: try sender(&arguments))
        case "simulator": verb = .simulator(try device(arguments.text("device")))
        case "simulate": verb = .simulate(try simulatorAction(&arguments))
        case "history": verb = .history(try historyRequest(&arguments))
        case "messages": verb = .messages(try messageCount(&arguments))
        case "state": verb = .state(try device(arguments.text("device")))
        case "subscribe":
            let (devices, kinds) = try subscription(&arguments)
            verb = .subscribe(devices, kinds, polls: try arguments.optionalBoolean("poll"))
        case "unsubscribe":
            let (devices, kinds) = try subscription(&arguments)
            verb = .unsubscribe(devices, kinds)
        case "attach": verb = .attach(try deviceToAttach(&arguments))
        case "transfer":
            let transfer = try newTransfer(request.id, &arguments)
            verb = .transfer(transfer, by: try sender(&arguments))
        case "cancel": verb = .cancel(try arguments.requestID("transfer"))
        default:
            throw .usage(
                "there is no '\(request.verb)'",
                hint:
                    "use one of: attach, cancel, command, describe, devices, findings, history, messages, ports, scan, "
                    + "send, simulate, simulator, state, stop, subscribe, transfer, unsubscribe")
        }
        try arguments.end()
        return verb
    }

    func device(_ name: String) throws(ControlFailure) -> SharedDevice {
        guard let device = devices.first(where: { $0.settings.name == name }) else { throw noDevice("named '\(name)'") }
        return device
    }

    private func deviceToAttach(_ arguments: inout ControlArguments) throws(ControlFailure) -> SharedDevice {
        guard let deviceID = try arguments.optionalText("device_id") else {
            return try device(arguments.text("device"))
        }
        guard let device = devices.first(where: { $0.assumeIsolated { $0.watch.deviceID } == deviceID }) else {
            throw noDevice("with the id '\(deviceID)'")
        }
        return device
    }

    /// Refuses a command that is no query if the request says that it is one, by `"effect":"query"`.
    private func check(_ effect: String?, of line: ClientLine, _ name: String) throws(ControlFailure) {
        guard let effect else { return }
        guard effect == "query" else { throw .usage("'effect' must be \"query\"") }
        guard line.effect == .query else { throw .usage("'\(name)' is not a query: it changes the device") }
    }

    /// Returns the line that makes a device safe.
    private func stop(of device: SharedDevice) throws(ControlFailure) -> ClientLine {
        let family = device.settings.family
        guard let stop = family.stop else {
            let reason = family.reasonForNoStop { "'\($0)'" }
            throw .usage("\(device.settings.name) has no command that makes it safe" + (reason.map { ": \($0)" } ?? ""))
        }
        return device.row.read(try family.line(of: stop.name, [:]))
    }

    private func noDevice(_ description: String) -> ControlFailure {
        ControlFailure(
            "no_such_device", "there is no device \(description)",
            hint: "use one of: " + devices.map(\.settings.name).joined(separator: ", "), outcome: "not_sent")
    }

    /// Returns the name of the sender for the log and for other programs: the name of this connection's program. If the
    /// request names in `by` whom the program acts for: `page session 3fa2 (pid 4711 of user 1000)`.
    private func sender(_ arguments: inout ControlArguments) throws(ControlFailure) -> String {
        guard let by = try arguments.optionalText("by") else { return name }
        guard (1...100).contains(by.unicodeScalars.count), by == by.printable() else {
            throw .usage("'by' must be 1 to 100 printable characters")
        }
        return "\(by) (\(name))"
    }

    private func simulatorAction(
        _ arguments: inout ControlArguments
    ) throws(ControlFailure) -> SimulatorAction {
        SimulatorAction(
            device: try device(arguments.text("device")), verb: try arguments.text("verb"),
            arguments: try arguments.texts("arguments") ?? [], sender: try sender(&arguments))
    }

    /// Returns the family with this name if a device belongs to it. Returns the families of all devices if the name is
    /// nil.
    private func families(_ name: String?) throws(ControlFailure) -> [Family] {
        var families: [Family] = []
        for device in devices where !families.contains(device.settings.family) {
            families.append(device.settings.family)
        }
        guard let name else { return families }
        guard let family = families.first(where: { $0.name == name }) else {
            throw .usage(
                "no device is of the family '\(name)'",
                hint: "use one of: " + families.map(\.name).joined(separator: ", "))
        }
        return [family]
    }

    private func devices(_ names: [String]?) throws(ControlFailure) -> [SharedDevice] {
        guard let names else { return devices }
        var devices: [SharedDevice] = []
        for name in names { devices.append(try device(name)) }
        return devices
    }

    private func historyRequest(
        _ arguments: inout ControlArguments
    ) throws(ControlFailure) -> HistoryReading.Request {
        let device = try device(arguments.text("device"))
        var request = HistoryReading.Request(filter: RecordFilter(), columns: try arguments.optionalInteger("columns"))
        if let columns = request.columns, !(1...HistoryReading.Request.columnLimit).contains(columns) {
            throw .usage("'columns' must be 1 to \(HistoryReading.Request.columnLimit)")
        }
        let now = RecordTime.now
        request.filter.since = try time("since", &arguments, now, isLater: false)
        request.filter.until = try time("until", &arguments, now, isLater: true)
        if let since = request.filter.since, let until = request.filter.until, since >= until {
            throw .usage("'since' must be earlier than 'until'")
        }
        guard device.settings.isRecorded else {
            throw ControlFailure(
                "not_recorded", "\(device.settings.name) is not recorded",
                hint: "set record = true for it in the configuration of pumpctld", outcome: "nothing_changed")
        }
        request.filter.family = device.settings.family.name
        request.filter.device = device.settings.endpoint.nameForPeople
        return request
    }

    /// Returns the number of messages that a program wants. All stored messages belong to the user of the daemon, so
    /// only a daemon that shares a phone hands them out.
    private func messageCount(_ arguments: inout ControlArguments) throws(ControlFailure) -> Int {
        let count = try arguments.optionalInteger("limit") ?? HistoryReading.standardMessageCount
        guard (1...HistoryReading.messageLimit).contains(count) else {
            throw .usage("'limit' must be 1 to \(HistoryReading.messageLimit)")
        }
        guard devices.contains(where: { $0.settings.family == .rescue }) else {
            throw noDevice("of the family '\(Family.rescue.name)'")
        }
        return count
    }

    /// Returns the time that an argument gives as an age or a date; nil if the argument is missing.
    ///
    /// - Parameter isLater: Whether to choose the later instant for a local time that occurs twice, as at the end of
    ///   summer time.
    private func time(
        _ name: String, _ arguments: inout ControlArguments, _ now: RecordTime, isLater: Bool
    ) throws(ControlFailure) -> RecordTime? {
        guard let text = try arguments.optionalText(name) else { return nil }
        guard let time = RecordTime(typed: text, now: now, isLater: isLater) else {
            throw .usage("'\(name)' must be a time", hint: "use an age as 2h, or a date as 2026-11-20T17:04:05Z")
        }
        return time
    }

    private func subscription(
        _ arguments: inout ControlArguments
    ) throws(ControlFailure) -> ([SharedDevice], Set<DeviceWatch.Kind>) {
        (try devices(arguments.list("devices")), try kinds(arguments.list("events")))
    }

    private func kinds(_ names: [String]?) throws(ControlFailure) -> Set<DeviceWatch.Kind> {
        guard let names else { return Set(DeviceWatch.Kind.allCases) }
        var kinds: Set<DeviceWatch.Kind> = []
        for name in names {
            guard let kind = DeviceWatch.Kind(rawValue: name) else {
                throw .usage(
                    "unknown event '\(name)'",
                    hint: "use some of: " + DeviceWatch.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            kinds.insert(kind)
        }
        return kinds
    }

    // MARK: Doing

    /// Carries out a request and returns the members of its response.
    func perform(_ verb: ControlVerb) async throws(ControlFailure) -> [String: JSONValue] {
        switch verb {
        case .devices:
            var outlines: [JSONValue] = []
            for device in devices { outlines.append(await device.outline()) }
            return ["devices": .array(outlines)]
        case .describe(let families): return ["families": .array(families.map(\.json))]
        case .line(let device, let line, let sender): return ["reply": try await send(line, to: device, by: sender)]
        case .state(let device): return await device.dated(device.state())
        case .subscribe(let devices, let kinds, let polls):
            for device in devices {
                change(at: device) { DeviceWatch.Subscription(kinds: $0.kinds.union(kinds), polls: polls ?? $0.polls) }
            }
            return [:]
        case .unsubscribe(let devices, let kinds):
            for device in devices { unsubscribe(from: device, kinds) }
            return [:]
        case .ports, .scan, .findings: return try await look(verb)
        case .simulator(let device): return try await simulator(of: device)
        case .simulate(let action): return try await simulate(action)
        case .history(let request): return try await history.perform(request)
        case .messages(let count): return try await history.messages(count)
        case .transfer(let transfer, let sender): return try await perform(transfer, by: sender)
        case .cancel(let id): return try cancelTransfer(id)
        case .attach: preconditionFailure("'attach' cannot be sent on a connection with other requests")
        }
    }

    /// Answers a request about the computer.
    private func look(_ verb: ControlVerb) async throws(ControlFailure) -> [String: JSONValue] {
        do {
            switch verb {
            case .ports:
                let ports = try await surroundings.ports()
                return ["ports": .array(ports.map { Surroundings.json($0, device: deviceName(at: $0.info.path)) })]
            case .scan(let seconds):
                return ["found": .array(try await surroundings.devices(seconds).map(\.json))]
            case .findings(let endpoint):
                return ["findings": .array(try await surroundings.findings(endpoint).map(\.json))]
            default: return [:]
            }
        } catch {
            throw Surroundings.failure(error)
        }
    }

    /// The name of the served device whose link is open at a serial port; nil if there is none.
    private func deviceName(at path: String) -> String? {
        guard let id = DeviceID.serialPort(at: path) else { return nil }
        return devices.first { $0.assumeIsolated { $0.watch.deviceID } == id }?.settings.name
    }

    /// Changes the subscription of this connection to a device.
    private func change(
        at device: SharedDevice,
        _ change: (DeviceWatch.Subscription) -> DeviceWatch.Subscription
    ) {
        device.assumeIsolated { device in
            let program = ObjectIdentifier(self)
            device.subscribe(program, change(device.watch.subscribers[program]?.subscription ?? .none)) { line in
                self.assumeIsolated { $0.say(line) }
            }
        }
    }

    /// Ends the subscription to some kinds of events, and polling if no kind is left.
    private func unsubscribe(from device: SharedDevice, _ kinds: Set<DeviceWatch.Kind>) {
        change(at: device) { before in
            let rest = before.kinds.subtracting(kinds)
            return DeviceWatch.Subscription(kinds: rest, polls: before.polls && !rest.isEmpty)
        }
    }

    /// Ends all subscriptions of this connection.
    func endSubscriptions() {
        for device in devices { change(at: device) { _ in .none } }
    }

    private func send(
        _ line: ClientLine, to device: SharedDevice, by sender: String
    ) async throws(ControlFailure) -> JSONValue {
        let deviceName = device.settings.name
        if line.isStop { stops[deviceName, default: 0] += 1 }
        let stopsBefore = stops[deviceName]
        let reply = ControlReply()
        let asker = Asker {
            bytes, _ in
            reply.append(bytes)
        } isThere: {
            self.assumeIsolated { $0.isThere }
        }
        do throws(SharingError) {
            try await device.request(line, by: sender, for: asker) {
                // A request from before a stop must not undo the stop.
                !line.isStop && self.assumeIsolated { $0.stops[deviceName] } != stopsBefore
            }
        } catch {
            throw ControlFailure(error, device)
        }
        guard let bytes = reply.bytes else {
            throw ControlFailure(
                "reply_too_long", "\(deviceName): the reply is longer than \(ControlReply.limit) bytes",
                hint: device.row.content.map { "use 'transfer' with the content \"\($0.name)\"" }
                    ?? "attach to the device, and send the line there", outcome: "unknown")
        }
        return .array(SharedDevice.lines(of: bytes).map { .text(SharedDevice.text(of: $0)) })
    }
}
