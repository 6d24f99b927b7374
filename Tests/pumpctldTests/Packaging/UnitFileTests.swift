import ArgumentParser
import TestSupport
import Testing

@testable import pumpctld

@Suite(
    "Service unit of systemd",
    .enabled(if: Executable.find("systemd-analyze") != nil, "not installed: systemd"), .timeLimit(.minutes(5)))
struct UnitFileTests {
    private static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    private static let program = "/usr/local/libexec/pumpctl/pumpctld"

    private let folder = TemporaryFolder()
    /// The content of the packaged unit file.
    private let text: String
    /// The path of a copy of the unit file, with the built program in place of the installed one.
    private let path: String

    init() async throws {
        let cat = try await ChildProcess(["cat", "\(Self.package)/packaging/systemd/pumpctld.service"])
        text = try await cat.ending().output
        path = folder.write(text.replacing(Self.program, with: Executable.pumpctld), to: "pumpctld.service")
    }

    @Test("systemd-analyze verify accepts the unit")
    func verify() async throws {
        let ending = try await ChildProcess(["systemd-analyze", "verify", path]).ending()
        #expect(ending.status == 0, "\(ending.errors)")
        // systemd only warns about unknown settings, and still succeeds.
        #expect(!ending.errors.contains("pumpctld.service"), "\(ending.errors)")
    }

    @Test("The unit's exposure level in systemd-analyze security is at most 2.1")
    func security() async throws {
        let ending = try await ChildProcess([
            "systemd-analyze", "security", "--offline=true", "--threshold=21", "--no-pager", path,
        ]).ending()
        #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
        #expect(ending.output.contains("Overall exposure level"))
    }

    @Test("ExecStart has valid options, and names the system's configuration file")
    func command() throws {
        let start = try #require(text.firstMatch(of: /ExecStart=(\S+) (.+)/))
        #expect(start.1 == Self.program)
        let words = start.2.split(separator: " ").map(String.init)
        let command = try #require(try PumpctldCommand.parseAsRoot(words) as? PumpctldCommand)
        #expect(command.options.config == ConfigurationFile.system)
    }
}
