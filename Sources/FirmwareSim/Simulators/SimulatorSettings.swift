/// The options of a simulated device with the values that they have: those that were given, and the defaults of the others.
///
/// ``Simulator/settings(_:over:)`` makes and checks them. An option that the device does not have reads as one without a
/// value.
public struct SimulatorSettings: Sendable {
    private let options: [SimulatorOption]
    private var given: [String: String]
    /// What the device is to be reached over; nil where that is not known.
    private let carrier: SimulatorOption.Carrier?
    /// Whether programs find the device again once its cable was pulled: it comes back as another port, unless it has a link.
    /// Where they don't, it refuses such a fault while it runs, too.
    public var hasWayBack = true

    /// - Parameter carrier: nil where it is not known, and nothing is refused on its account.
    /// - Throws: What is wrong with the first option, by their names, that is wrong.
    init(
        _ options: [SimulatorOption], _ given: [String: String], over carrier: SimulatorOption.Carrier?
    ) throws(SimulatorOptionError) {
        for (name, text) in given.sorted(by: { $0.key < $1.key }) {
            guard let option = options.first(where: { $0.name == name }) else {
                throw SimulatorOptionError(name, .unknown(known: options.map(\.name)))
            }
            if let only = option.carrier, let carrier, only != carrier { throw SimulatorOptionError(name, .only(only)) }
            try option.check(text)
            if let carrier { try option.checkFaults(text, over: carrier) }
            if option.excluded.contains(where: { given[$0] != nil }) {
                throw SimulatorOptionError(name, .excludes(option.excluded))
            }
        }
        self.options = options
        self.given = given
        self.carrier = carrier
    }

    /// The value of an option, as it was typed; nil where it has none.
    public func text(_ name: String) -> String? {
        given[name] ?? options.first { $0.name == name }?.defaultValue
    }

    /// The number that an option has; nil where it has none.
    public func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// The number, whole or not, that an option has; nil where it has none.
    public func decimal(_ name: String) -> Double? { text(name).flatMap { Double($0) } }

    /// The seed that an option has; 1 where it has none.
    public func seed(_ name: String = "seed") -> UInt64 { text(name).flatMap { UInt64($0) } ?? 1 }

    /// Whether an option is on.
    public func flag(_ name: String) -> Bool { text(name).map { $0 == "on" || $0 == "true" } ?? false }

    /// The time that an option has; nil where it has none, or a word in place of one.
    public func time(_ name: String) -> Duration? { text(name).flatMap { SimulatorOption.time($0) } }

    /// The settings of one of several devices, counted from 1: each has a seed of its own, which is larger by 1.
    public func numbered(_ number: Int) -> SimulatorSettings {
        var settings = self
        if number > 1 { settings.given["seed"] = "\(seed() &+ UInt64(number - 1))" }
        return settings
    }

    /// The faults that an option names, beside those of the device's own.
    public func faults(_ name: String = "fault") -> [FaultOrder] {
        guard let text = text(name), let option = options.first(where: { $0.name == name }) else { return [] }
        return option.parsed(text)?.orders ?? []
    }

    /// Whether a fault pulls the cable of the device, from the start or by a step; it then comes back as another port.
    public var pullsCable: Bool {
        let option = options.first { $0.name == "fault" }
        let later = steps().filter { $0.verb == "fault" }.flatMap { option?.parsed($0.arguments)?.orders ?? [] }
        return (faults() + later).contains { $0.fault.effect == .unplug }
    }

    /// Which faults the device can be given while it runs.
    ///
    /// - Parameter isOnTerminal: Whether it is on a pseudo-terminal.
    func choice(isOnTerminal: Bool) -> FaultChoice {
        let option = options.first { $0.name == "fault" } ?? .faults()
        return FaultChoice(
            option: option, carrier: carrier ?? .line, isOnTerminal: isOnTerminal, hasWayBack: hasWayBack)
    }

    /// What is done to the device in the course of a scenario.
    public func steps() -> [ScenarioStep] {
        text(SimulatorOption.steps.name).flatMap { try? ScenarioStep.steps($0) } ?? []
    }

    /// What is expected of the host.
    public func expectations() -> [HostExpectation] {
        text(SimulatorOption.expectations.name).flatMap { try? HostExpectation.expectations($0) } ?? []
    }

    /// Refuses what can be seen on a pseudo-terminal only, for a device that is on another line, or over BLE.
    public func checkWithoutTerminal() throws(SimulatorOptionError) {
        if expectations().contains(where: \.rule.needsTerminal) {
            throw SimulatorOptionError(SimulatorOption.expectations.name, .onlyTerminal)
        }
        if faults().contains(where: { $0.fault.effect == .garble }) {
            throw SimulatorOptionError("fault", .onlyTerminal)
        }
    }

    /// The fault of the device's own that an option names; nil for none.
    public func ownFault(_ name: String = "fault") -> String? {
        guard let text = text(name), let option = options.first(where: { $0.name == name }) else { return nil }
        return option.parsed(text)?.own
    }

    /// What a device's line is paced to: ``SimulatorOption/baud(_:only:)``, unless it is ``SimulatorOption/unpaced`` or has
    /// no such option.
    public var lineRate: LineRate {
        flag(SimulatorOption.unpaced.name) ? .unlimited : number("baud").map { .baud($0) } ?? .unlimited
    }
}

extension SimulatorOption {
    /// The faults that a value names; nil where this is no option for faults.
    fileprivate func parsed(_ text: String) -> (orders: [FaultOrder], own: String?)? {
        guard case .faults(let own, _, _) = value else { return nil }
        return try? FaultOrder.orders(text, beside: own)
    }

    /// Refuses faults that make no sense over a carrier, or for the device.
    fileprivate func checkFaults(_ text: String, over carrier: Carrier) throws(SimulatorOptionError) {
        let orders = parsed(text)?.orders ?? []
        guard orders.count <= FaultOrder.longestList else {
            throw SimulatorOptionError(name, .tooManyFaults(most: FaultOrder.longestList))
        }
        if let senseless = FaultOrder.senseless(in: orders, over: carrier) {
            throw SimulatorOptionError(name, .senseless(senseless))
        }
        for fault in orders.map(\.fault) {
            if !allows(fault, over: carrier) {
                throw SimulatorOptionError(name, .fault(fault.name, only: carrier == .line ? .radio : .line))
            }
            if let senseless = value.senselessFaults.first(where: {
                $0.name == fault.name && ($0.carrier == nil || $0.carrier == carrier)
            }) {
                throw SimulatorOptionError(name, .senseless(senseless))
            }
        }
    }

    /// Whether a fault makes sense over a carrier.
    fileprivate func allows(_ fault: Fault, over carrier: Carrier) -> Bool {
        // A cable and a terminal there are none of behind a radio.
        let isBehindRadio = ![.unplug, .garble].contains(fault.effect)
        if case .faults(_, anywhere: true, _) = value, carrier == .radio, isBehindRadio { return true }
        return fault.carrier == nil || fault.carrier == carrier
    }
}

extension SimulatorOption.Value {
    /// The faults that make no sense for the device.
    package var senselessFaults: [SenselessFault] {
        if case .faults(_, _, let senseless) = self { senseless } else { [] }
    }
}
