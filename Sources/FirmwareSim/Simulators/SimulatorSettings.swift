/// The values of a simulated device's options: the given ones, and defaults for the others.
///
/// ``Simulator/settings(_:over:)`` makes and checks settings. An option that the device does not have reads like an
/// option without a value.
public struct SimulatorSettings: Sendable {
    private let options: [SimulatorOption]
    private var given: [String: String]
    /// The carrier over which the device will be reached.
    private let carrier: SimulatorOption.Carrier
    /// Whether programs can find the device again after its cable was pulled. The device comes back on another port,
    /// which programs find by a link, or by an event that reports the new path. If false, the verb `fault`, also in a
    /// step, refuses a fault that pulls the cable. Initial faults are not refused; see ``pullsCable``.
    public var hasWayBack = true

    /// Checks the given values.
    ///
    /// - Throws: ``SimulatorOptionError`` for the first invalid option, in alphabetical order.
    init(
        _ options: [SimulatorOption], _ given: [String: String], over carrier: SimulatorOption.Carrier
    ) throws(SimulatorOptionError) {
        for (name, text) in given.sorted(by: { $0.key < $1.key }) {
            guard let option = options.first(where: { $0.name == name }) else {
                throw SimulatorOptionError(name, .unknown(known: options.map(\.name)))
            }
            if let only = option.carrier, only != carrier { throw SimulatorOptionError(name, .only(only)) }
            try option.check(text)
            try option.checkFaults(text, over: carrier)
            if option.excluded.contains(where: { given[$0] != nil }) {
                throw SimulatorOptionError(name, .excludes(option.excluded))
            }
        }
        self.options = options
        self.given = given
        self.carrier = carrier
    }

    /// Returns the value of an option as typed, or the option's default; nil if the option has neither.
    public func text(_ name: String) -> String? {
        given[name] ?? options.first { $0.name == name }?.defaultValue
    }

    /// Returns the whole number of an option; nil if the option has none.
    public func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

    /// Returns the number of an option, whole or not; nil if the option has none.
    public func decimal(_ name: String) -> Double? { text(name).flatMap { Double($0) } }

    /// Returns the seed of an option; 1 if the option has none.
    public func seed(_ name: String = "seed") -> UInt64 { text(name).flatMap { UInt64($0) } ?? 1 }

    /// Returns whether an option is on.
    public func flag(_ name: String) -> Bool { text(name).map { $0 == "on" || $0 == "true" } ?? false }

    /// Returns the time of an option; nil if the option has no value, or a word instead of a time.
    public func time(_ name: String) -> Duration? { text(name).flatMap { SimulatorOption.time($0) } }

    /// Returns the settings of one of several devices, counted from 1. The seed of each further device is larger by 1.
    public func numbered(_ number: Int) -> SimulatorSettings {
        var settings = self
        if number > 1 { settings.given["seed"] = "\(seed() &+ UInt64(number - 1))" }
        return settings
    }

    /// Returns the faults that an option names, without the device's own faults.
    public func faults(_ name: String = "fault") -> [FaultOrder] {
        guard let text = text(name), let option = options.first(where: { $0.name == name }) else { return [] }
        return option.parsed(text)?.orders ?? []
    }

    /// Whether a fault pulls the device's cable, from the start or by a step. The device then comes back on another
    /// port.
    public var pullsCable: Bool {
        let option = options.first { $0.name == "fault" }
        let later = steps().filter { $0.verb == "fault" }.flatMap { option?.parsed($0.arguments)?.orders ?? [] }
        return (faults() + later).contains { $0.fault.effect == .unplug }
    }

    /// Returns the faults that the device can get while it runs.
    ///
    /// - Parameter isOnTerminal: Whether the device is on a pseudo-terminal.
    func choice(isOnTerminal: Bool) -> FaultChoice {
        let option = options.first { $0.name == "fault" } ?? .faults()
        return FaultChoice(
            option: option, carrier: carrier, isOnTerminal: isOnTerminal, hasWayBack: hasWayBack)
    }

    /// Returns the steps of the scenario.
    public func steps() -> [ScenarioStep] {
        text(SimulatorOption.steps.name).flatMap { try? ScenarioStep.steps($0) } ?? []
    }

    /// Returns the expectations of the host.
    public func expectations() -> [HostExpectation] {
        text(SimulatorOption.expectations.name).flatMap { try? HostExpectation.expectations($0) } ?? []
    }

    /// Rejects expectations and initial faults that need a pseudo-terminal, for a device on another line or over BLE.
    ///
    /// - Throws: ``SimulatorOptionError`` if there is such an expectation or fault.
    public func checkWithoutTerminal() throws(SimulatorOptionError) {
        if expectations().contains(where: \.rule.needsTerminal) {
            throw SimulatorOptionError(SimulatorOption.expectations.name, .onlyTerminal)
        }
        if faults().contains(where: { $0.fault.effect == .garble }) {
            throw SimulatorOptionError("fault", .onlyTerminal)
        }
    }

    /// Returns the device's own fault that an option names; nil for none.
    public func ownFault(_ name: String = "fault") -> String? {
        guard let text = text(name), let option = options.first(where: { $0.name == name }) else { return nil }
        return option.parsed(text)?.own
    }

    /// The rate of the device's line: the value of ``SimulatorOption/baud(_:only:)``, or unlimited if
    /// ``SimulatorOption/unpaced`` is on, or if the device has no option for the baud rate.
    public var lineRate: LineRate {
        flag(SimulatorOption.unpaced.name) ? .unlimited : number("baud").map { .baud($0) } ?? .unlimited
    }
}

extension SimulatorOption {
    /// Parses the faults that a value names; nil if this option takes no faults, or if the value is invalid.
    fileprivate func parsed(_ text: String) -> (orders: [FaultOrder], own: String?)? {
        guard case .faults(let own, _, _) = value else { return nil }
        return try? FaultOrder.orders(text, beside: own)
    }

    /// Rejects too many faults, and faults that make no sense together, on a carrier, or for the device.
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

    /// Returns whether a fault makes sense on a carrier.
    fileprivate func allows(_ fault: Fault, over carrier: Carrier) -> Bool {
        // Behind a radio there is no cable and no terminal.
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
