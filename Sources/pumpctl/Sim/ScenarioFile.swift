import DescriptorIO
import FirmwareSim
import Glibc
import SimControl
import TOMLReading

/// A scenario file: the simulated device, its faults, the steps that happen to it, and the rules for the program.
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
    /// The maximum size of a scenario file in bytes. A larger file is taken for one of another kind, and is not read.
    private static let limit: off_t = 1 << 20

    /// Returns the options of a simulated device: given options override the options of the file.
    ///
    /// Faults, steps and expectations are combined instead; `--fault none` removes the faults of the file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - family: The family of the device, which must be that of the scenario, if the file names one.
    ///   - given: The given options as typed, by their names.
    ///   - options: All options of the device.
    ///   - check: Checks a single option, so that an error names its line in the file.
    /// - Returns: The values as typed, by the names of the options.
    /// - Throws: ``Failure`` if the file can't be read, is not a valid scenario, or is for another family.
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
                        .usage, code: "usage", "\(place): the scenario is for '\(value)', not for '\(family)'",
                        hint: "use the family of the scenario: pumpctl sim \(value) --scenario \(path)")
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
            // `--fault none` replaces the faults of the file.
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
                hint: "name a TOML file that you can read")
        }
        do throws(ConfigurationError) { return try self.options(toml: text) } catch {
            let place = error.line.map { "line \($0): " } ?? ""
            throw Failure(.usage, code: "usage", "\(path): \(place)\(error)", hint: error.hint)
        }
    }
}

extension SimulatorOption.Value {
    /// Whether a text is the value of `--fault` that stands for no faults.
    func isNone(_ text: String) -> Bool { if case .faults = self { text == "none" } else { false } }

    /// The separator of an option that may be repeated; nil for any other option.
    var separator: String? {
        switch self {
        case .faults, .expectations: ","
        case .steps: "\n"
        default: nil
        }
    }
}
