extension FaultyDevice {
    /// What is done to the device in the course of a scenario.
    struct Script: Sendable {
        struct Step: Sendable {
            let perform: @Sendable (inout FaultyDevice, Duration) -> Void
            var watch: OccasionWatch
            var random: SeededRandom
            /// Whether the unit that goes on is one for it.
            var isArmed = false
        }

        private var steps: [Step] = []
        /// What is to be done now.
        private var due: [@Sendable (inout FaultyDevice, Duration) -> Void] = []

        var isEmpty: Bool { steps.isEmpty }

        mutating func add(_ step: Step) { steps.append(step) }

        /// How many there are.
        var count: Int { steps.count }

        /// When one is done whatever the device says.
        var nextTime: Duration? { steps.compactMap(\.watch.time).min() }

        mutating func noteCommand() {
            for index in steps.indices {
                steps[index].watch.noteCommand()
                guard case .command = steps[index].watch.occasion else { continue }
                if steps[index].watch.comes(at: .zero, chance: 1) { due.append(steps[index].perform) }
            }
        }

        mutating func noteTime(_ now: Duration) {
            for index in steps.indices {
                guard let time = steps[index].watch.time, time <= now else { continue }
                if steps[index].watch.comes(at: now, chance: 1) { due.append(steps[index].perform) }
            }
        }

        mutating func beginUnit(at instant: Duration) {
            for index in steps.indices {
                let chance = steps[index].random.share()
                if case .chance = steps[index].watch.occasion {
                    steps[index].isArmed = steps[index].watch.comes(at: instant, chance: chance)
                }
            }
        }

        mutating func endUnit(_ bytes: [UInt8]) {
            for index in steps.indices {
                if case .line(let beginning) = steps[index].watch.occasion {
                    steps[index].isArmed = bytes.starts(with: beginning)
                }
                if steps[index].isArmed { due.append(steps[index].perform) }
                steps[index].isArmed = false
            }
        }

        mutating func takeDue() -> [@Sendable (inout FaultyDevice, Duration) -> Void] {
            defer { due = [] }
            return due
        }
    }

    /// Adds what is done to the device in the course of a scenario.
    ///
    /// - Throws: Where the device has no such verb, or it takes other arguments; then none is added.
    public mutating func add(_ steps: [ScenarioStep]) throws(DeviceVerbError) {
        var added: [Script.Step] = []
        for step in steps {
            let number = UInt64(script.count + added.count + 1)
            added.append(
                Script.Step(
                    perform: try action(of: step), watch: OccasionWatch(step.occasion, at: now),
                    // Apart from the streams of the faults, which count from 1.
                    random: SeededRandom(seed: seed, stream: number << 32)))
        }
        for step in added { script.add(step) }
    }

    private func action(
        of step: ScenarioStep
    ) throws(DeviceVerbError) -> @Sendable (inout FaultyDevice, Duration) -> Void {
        if step.verb == "reset", step.arguments.isEmpty { return { $0.reset(at: $1) } }
        if step.verb == "set", !Self.settings.isEmpty { return try Self.setting(of: step) }
        guard let verb = Self.verbs.first(where: { $0.name == step.verb }) else {
            throw .unknown(step.verb, known: (Self.verbs.map(\.name) + ["reset", "set"]).sorted())
        }
        let count = max(0, verb.arguments.count - 1)
        let given = step.arguments.split(separator: " ", maxSplits: count).map(String.init)
        let settings = try verb.settings(given)
        if step.verb == Self.faultVerb { try checkFaults(settings) }
        // What the device can't do now it does not do; there is nobody to tell.
        return { try? verb.perform(&$0, settings, $1) }
    }

    private static func setting(
        of step: ScenarioStep
    ) throws(DeviceVerbError) -> @Sendable (inout FaultyDevice, Duration) -> Void {
        let given = step.arguments.split(separator: " ", maxSplits: 1).map(String.init)
        guard given.count == 2 else { throw .argumentCount(of: "set", names: ["name", "value"]) }
        guard let row = settings.first(where: { $0.option.name == given[0] }) else {
            throw .unknownOption(given[0], known: settings.map(\.option.name))
        }
        let values = try SimulatorSettings([given[1]], as: [row.option], of: "set")
        // What the device can't do now it does not do; there is nobody to tell.
        return { try? row.set(&$0, values, $1) }
    }

    mutating func performDueSteps() { for perform in script.takeDue() { perform(&self, now) } }
}
