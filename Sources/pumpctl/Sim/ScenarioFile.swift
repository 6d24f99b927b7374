import DescriptorIO
import FirmwareSim
import Glibc
import SimControl
import TOMLReading

/// A scenario as it is written: what the simulated device is, what it does wrong, what happens to it, and what its host has to
/// do.
///
/// ```toml
/// family = "pump"
/// seed = 7
///
/// [device]
/// knob = 716
///
/// [[fault]]
/// name = "drop"
/// when = "5%"
///
/// [[step]]
/// when = "10s"
/// do = "temperature skin 41"
///
/// [expect]
/// one-in-flight = true
/// pacing = "50ms"
///
/// [[expect.reaction]]
/// to = "ERROR:OVERHEAT"
/// within = "5s"
/// send = "OFF"
/// ```
enum ScenarioFile {
    /// The largest file that is read, in bytes.
    private static let limit: off_t = 1 << 20

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
        for option in try read(path) {
            let (name, value, place) = (option.name, option.value, "\(path): line \(option.line)")
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

    private static func read(_ path: String) throws(Failure) -> [ScenarioOption] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure(
                .noInput, code: "not_found", "\(path): \(String(cString: strerror(errno)))", hint: "check the path")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit, let text = TextFile.contents(of: path) else {
            throw Failure(
                .noInput, code: "not_found", "\(path): not a scenario file",
                hint: "name a TOML file that you may read")
        }
        do throws(ConfigurationError) { return try self.options(toml: text) } catch {
            let place = error.line.map { "line \($0): " } ?? ""
            throw Failure(.usage, code: "usage", "\(path): \(place)\(error)", hint: error.hint)
        }
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
