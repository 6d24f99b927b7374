import DescriptorIO
import Glibc
import TOMLReading

/// Reads a scenario for `pumpctl sim`: it is linked with a reader of TOML, so that `pumpctl` is not.
///
///     pumpctl-scenario FILE
///
/// Writes the options of the simulated device, each a name, a value and the line of the file that it stands on, or nothing for
/// that, which end with a NUL character. Where the file can't be read, or is no scenario, it writes what is wrong and what to
/// do, and ends with 66 or 64.
@main
enum PumpctlScenario {
    /// The largest file that is read, in bytes.
    private static let limit: off_t = 1 << 20

    static func main() {
        let arguments = ProgramArguments.typed(by: "pumpctl-scenario")
        guard arguments.count == 1 else { exit(64) }
        let path = arguments[0]
        var status = stat()
        guard stat(path, &status) == 0 else { fail(66, String(cString: strerror(errno)), "check the path") }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit, let text = TextFile.contents(of: path) else {
            fail(66, "this is no scenario file", "name a TOML file that you may read")
        }
        do throws(ConfigurationError) {
            for option in try ScenarioFile.options(toml: text) {
                put([option.name, option.value, "\(option.line)"])
            }
        } catch {
            fail(64, (error.line.map { "line \($0): " } ?? "") + "\(error)", error.hint)
        }
    }

    private static func fail(_ status: CInt, _ problem: String, _ hint: String) -> Never {
        put([problem, hint])
        exit(status)
    }

    private static func put(_ fields: [String]) {
        for field in fields {
            let bytes = Array(field.utf8) + [0]
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
                if count < 0, errno != EINTR { exit(74) }
                written += max(0, count)
            }
        }
    }
}
