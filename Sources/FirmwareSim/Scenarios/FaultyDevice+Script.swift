extension FaultyDevice {
    /// The steps of a scenario, and the state of their occasions. A unit is a unit of the device's output; see
    /// ``Occasion``.
    struct Script: Sendable {
        struct Step: Sendable {
            /// The step as typed.
            let text: String
            let perform: DeviceAction<FaultyDevice>
            var watch: OccasionWatch
            var random: SeededRandom
            /// Whether the step is performed at the end of the current unit.
            var isArmed = false
        }

        private var steps: [Step] = []
        /// The steps to perform now.
        private var due: [Step] = []

        var isEmpty: Bool { steps.isEmpty }

        mutating func add(_ step: Step) { steps.append(step) }

        var count: Int { steps.count }

        /// The earliest instant of a timed step; nil if no timed step is left.
        var nextTime: Duration? { steps.compactMap(\.watch.time).min() }

        /// Records that a command has begun to arrive. Steps that wait for this command become due.
        mutating func noteCommand() {
            for index in steps.indices {
                steps[index].watch.noteCommand()
                guard case .command = steps[index].watch.occasion else { continue }
                // The instant and the chance matter only for other occasions.
                if steps[index].watch.comes(at: .zero, chance: 1) { due.append(steps[index]) }
            }
        }

        /// Makes the timed steps due whose instant has come.
        mutating func noteTime(_ now: Duration) {
            for index in steps.indices {
                guard let time = steps[index].watch.time, time <= now else { continue }
                if steps[index].watch.comes(at: now, chance: 1) { due.append(steps[index]) }
            }
        }

        /// Begins a unit, and draws lots for each step whose occasion is a probability.
        mutating func beginUnit(at instant: Duration) {
            for index in steps.indices {
                let chance = steps[index].random.share()
                if case .chance = steps[index].watch.occasion {
                    steps[index].isArmed = steps[index].watch.comes(at: instant, chance: chance)
                }
            }
        }

        /// Ends a unit that consists of `bytes`. The drawn steps become due, and the `line:` steps whose text begins
        /// the unit.
        mutating func endUnit(_ bytes: [UInt8]) {
            for index in steps.indices {
                if case .line(let beginning) = steps[index].watch.occasion {
                    steps[index].isArmed = bytes.starts(with: beginning)
                }
                if steps[index].isArmed { due.append(steps[index]) }
                steps[index].isArmed = false
            }
        }

        /// Returns, once, the steps to perform now.
        mutating func takeDue() -> [Step] {
            defer { due = [] }
            return due
        }
    }

    /// Adds the steps of a scenario.
    ///
    /// - Throws: ``DeviceVerbError`` if the device lacks the verb of a step, or if the arguments don't fit the verb. In
    ///   either case, no step is added.
    public mutating func add(_ steps: [ScenarioStep]) throws(DeviceVerbError) {
        var added: [Script.Step] = []
        for step in steps {
            let number = UInt64(script.count + added.count + 1)
            added.append(
                Script.Step(
                    text: step.text, perform: try action(of: step), watch: OccasionWatch(step.occasion, at: now),
                    // A stream that no fault uses: the streams of faults count from 1.
                    random: SeededRandom(seed: seed, stream: number << 32)))
        }
        for step in added { script.add(step) }
    }

    private func action(of step: ScenarioStep) throws(DeviceVerbError) -> DeviceAction<FaultyDevice> {
        // The last argument may contain spaces.
        let count = step.verb == "set" ? 2 : Self.verbs.first { $0.name == step.verb }?.arguments.count ?? 0
        let given = step.arguments.split(separator: " ", maxSplits: max(0, count - 1)).map(String.init)
        let known = (Self.verbs.map(\.name) + ["reset"] + (Self.settings.isEmpty ? [] : ["set"])).sorted()
        let action = try Self.action(step.verb, given, known: known)
        if step.verb == "fault" { try checkFaults(step.arguments) }
        return action
    }

    /// Performs the steps that are due. A step that throws has changed nothing, and is recorded as failed.
    mutating func performDueSteps() {
        for step in script.takeDue() {
            do throws(DeviceVerbError) { try step.perform(&self, now) } catch {
                stepFailures.append(StepFailure(step: step.text, time: now, error: error))
            }
        }
    }

    public mutating func takeStepFailures() -> [StepFailure] {
        defer { stepFailures = [] }
        return stepFailures
    }
}
