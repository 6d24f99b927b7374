import ArgumentParser
import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import StrictJSON
import Transports
import Verification

/// The completion of the values of options and arguments, in one typed command line.
struct ValueCompletion {
    let line: CommandLine
    let given: GivenArguments
    let surroundings: Surroundings

    /// Returns the values of an option or argument that may continue a text.
    func candidates(of argument: CommandGrammar.Argument, _ typed: String) async -> [Candidate] {
        if !argument.values.isEmpty { return [Candidate](words: argument.values) }
        let endpoints = EndpointCompletion(surroundings: surroundings)
        if let option = simulatorOption(argument) {
            return option.values(continuing: typed, over: given.options["--ble"] == nil ? .line : .radio)
        }
        // An argument without a name is known by its command.
        switch argument.name(continuing: "") ?? line.path.joined(separator: " ") {
        case "--family": return [Candidate](words: Family.allValueStrings)
        case "--only", "--except": return checks(typed)
        case "--with": return EndpointCompletion.simulated(typed[...])
        case "--ends": return [Candidate](words: LineEnds.allCases.map(\.rawValue))
        case "--adapter": return [Candidate](words: surroundings.adapters())
        case "--revoke": return [Candidate](words: ["all"])
        case "forget": return await endpoints.names
        case "gatt": return await gattWords(typed, endpoints)
        case "sim ctl" where !given.positionals.isEmpty: return await controlWords(typed)
        case "sim ctl", "--stimulus": return PathCompletion.candidates(typed, .socket)
        case "led get", "led on", "led off", "led toggle": return [Candidate](words: LEDEndpoint.all.map(\.name))
        default: break
        }
        return switch argument.valueName {
        case "endpoint": await endpoints.candidates(typed)
        case "file", "path": PathCompletion.candidates(typed, .file)
        case "folder": PathCompletion.candidates(typed, .folder)
        default: []
        }
    }

    /// Returns the option of the simulated device that an option of `sim FAMILY` sets; nil for any other option.
    private func simulatorOption(_ argument: CommandGrammar.Argument) -> SimulatorOption? {
        guard line.path.count == 2, line.path[0] == "sim", let simulator = SimCommand.simulator(of: line.path[1])
        else { return nil }
        return simulator.line.options.first { argument.names.contains("--" + $0.name) }
    }

    /// Returns the endpoints, or behind an endpoint the actions. The words after the action name parts of the device,
    /// which are not known here.
    private func gattWords(_ typed: String, _ endpoints: EndpointCompletion) async -> [Candidate] {
        let words = given.positionals + [given.value(of: "--port", "-p")].compactMap(\.self)
        let actions = [Candidate](words: GATTRequest.Action.allCases.map(\.rawValue))
        return switch words.count {
        case 0: await endpoints.candidates(typed)
        case 1: actions
        default: []
        }
    }

    // MARK: Checks

    /// Returns the names of checks that begin with a text, cut behind the next dot: `--only` and `--except` take the
    /// beginning of names.
    private func checks(_ typed: String) -> [Candidate] {
        let family = family
        let ids =
            if given.options["--as-device"] != nil {
                HostVerification.all.filter { family == nil || $0.family == family }.flatMap { verification in
                    verification.devices.flatMap { device in
                        device.checks.map { verification.id(of: $0, with: device) }
                    }
                }
            } else {
                FamilyVerification.all.filter { family == nil || $0.family == family }.flatMap { $0.checks.map(\.id) }
            }
        return [Candidate](
            words: ids.filter { $0.hasPrefix(typed) }.map { id in
                let rest = id.dropFirst(typed.count)
                return rest.firstIndex(of: ".").map { String(id[...$0]) } ?? id
            })
    }

    /// The name of the family that the line names; nil if it names none.
    private var family: String? {
        given.value(of: "--family", "-f")
            ?? given.value(of: "--port", "-p").flatMap { Family.named(by: $0)?.name }
    }

    // MARK: sim ctl

    /// Returns the verbs of the device at the control socket, or the arguments of a verb.
    private func controlWords(_ typed: String) async -> [Candidate] {
        let verbs = await surroundings.verbs(given.positionals[0], given.value(of: "--device").flatMap { Int($0) })
        let words = given.positionals.dropFirst()
        guard let verb = words.first else {
            let common = ["advance", "reset", "fault", "set", "state", "verbs", "stop"]
            // The device has one `set` for each option, so none of their summaries describes the verb.
            return verbs.compactMap { verb in
                verb["name"]?.text.map {
                    Candidate(text: $0, help: $0 == "set" ? "" : verb["summary"]?.text ?? "")
                }
            } + [Candidate](words: common)
        }
        var (forms, arguments) = (verbs.filter { $0["name"]?.text == verb }, words.dropFirst())
        if verb == "set" {
            guard let option = arguments.popFirst() else {
                return forms.compactMap { form in
                    form["option"]?.text.map { Candidate(text: $0, help: form["summary"]?.text ?? "") }
                }
            }
            forms.removeAll { $0["option"]?.text != option }
        }
        guard let declared = forms.first?["arguments"]?.elements, arguments.count < declared.count else { return [] }
        let argument = declared[arguments.count]
        return [Candidate](words: (argument["choices"] ?? argument["suggestions"])?.elements?.compactMap(\.text) ?? [])
    }
}
