import DeviceKit
import FirmwareSim
import RecordFormat
import SimControl
import Transports

/// A scenario's file, which `pumpctl-scenario` reads: a start must not cost the reader of TOML.
enum ScenarioFile {
    /// The options of a simulated device: those that were given, and those of a file where they were not.
    ///
    /// What a file adds to is added to: faults, steps, and what is expected.
    ///
    /// - Parameters:
    ///   - given: The options that were given, as they were typed, by their names.
    ///   - options: All that the device takes.
    ///   - check: Checks one option, so that a wrong one is told with its line.
    /// - Throws: ``Failure`` where the file is no scenario, or one of another family.
    static func options(
        at path: String, for family: String, beside given: [String: String], of options: [SimulatorOption],
        check: ([String: String]) throws(SimulatorOptionError) -> Void
    ) throws(Failure) -> [String: String] {
        var merged: [String: String] = [:]
        for (name, value, line) in try read(path) {
            let place = line.isEmpty ? path : "\(path): line \(line)"
            if name == "family" {
                guard value == family else {
                    throw Failure(
                        .usage, code: "usage", "\(place): it is a scenario for '\(value)', not for '\(family)'",
                        hint: "pumpctl sim \(value) --scenario \(path)")
                }
                continue
            }
            do throws(SimulatorOptionError) { try check([name: value]) } catch {
                throw Failure(.usage, code: "usage", "\(place): \(error)", hint: error.advice)
            }
            let separator = options.first { $0.name == name }?.value.separator
            merged[name] = separator.flatMap { join(merged[name], value, $0) } ?? value
        }
        return given.reduce(into: merged) { merged, option in
            let value = options.first { $0.name == option.key }?.value
            // No faults are none of the file's either.
            let separator = value?.isNone(option.value) == true ? nil : value?.separator
            merged[option.key] = separator.flatMap { join(merged[option.key], option.value, $0) } ?? option.value
        }
    }

    private static func join(_ text: String?, _ more: String, _ separator: String) -> String? {
        text.map { $0 + separator + more }
    }

    private static func read(_ path: String) throws(Failure) -> [(name: String, value: String, line: String)] {
        let (output, status): ([UInt8], CInt)
        do throws(Trouble) {
            (output, status) = try CompanionProgram.installed("pumpctl-scenario").run([path])
        } catch {
            throw Failure(error)
        }
        let fields = output.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard status == 0 else {
            let (problem, hint) = fields.count > 2 ? (fields[0], fields[1]) : ("pumpctl-scenario has failed", nil)
            throw Failure(
                status == 66 ? .noInput : .usage, code: status == 66 ? "not_found" : "usage", "\(path): \(problem)",
                hint: hint)
        }
        return stride(from: 0, to: fields.count - 2, by: 3).map { (fields[$0], fields[$0 + 1], fields[$0 + 2]) }
    }
}

extension SimulatorOption.Value {
    /// Whether a text takes all faults away.
    func isNone(_ text: String) -> Bool { if case .faults = self { text == "none" } else { false } }

    /// What separates the values of an option that may be given several times; nil for one that may not.
    var separator: String? {
        switch self {
        case .faults, .expectations: ","
        case .steps: "\n"
        default: nil
        }
    }
}
