import ArgumentParser
import DescriptorIO
import TestSupport
import Testing

@testable import pumpctld

/// A packaged unit of systemd.
private struct UnitFile: Sendable, CustomTestStringConvertible {
    static let package = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    static let all = [UnitFile(name: "pumpctld", exposure: 21), UnitFile(name: "pumpctl-page", exposure: 13)]

    /// The name of the unit and of its program.
    let name: String
    /// The highest allowed level of exposure in systemd-analyze security, times 10.
    let exposure: Int

    var testDescription: String { name }
    var program: String { "/usr/local/libexec/pumpctl/\(name)" }
    var text: String { TextFile.contents(of: "\(Self.package)/packaging/systemd/\(name).service") ?? "" }

    /// The program and the arguments of the unit.
    var command: [String] {
        get throws { try #require(text.firstMatch(of: /ExecStart=(.+)/)).1.split(separator: " ").map(String.init) }
    }

    /// Writes a copy with an existing program in place of the installed one; returns its path.
    func copy(in folder: TemporaryFolder) -> String {
        folder.write(text.replacing(program, with: "/bin/true"), to: "\(name).service")
    }
}

@Suite(
    "Service units of systemd",
    .enabled(if: Executable.find("systemd-analyze") != nil, "not installed: systemd"), .timeLimit(.minutes(5)))
struct UnitFileTests {
    private let folder = TemporaryFolder()

    @Test("systemd-analyze verify accepts the unit", arguments: UnitFile.all)
    fileprivate func verify(unit: UnitFile) async throws {
        let ending = try await ChildProcess(["systemd-analyze", "verify", unit.copy(in: folder)]).ending()
        #expect(ending.status == 0, "\(ending.errors)")
        // systemd only warns about unknown settings, and still succeeds.
        #expect(!ending.errors.contains("\(unit.name).service"), "\(ending.errors)")
    }

    @Test("The unit's exposure level in systemd-analyze security is within its limit", arguments: UnitFile.all)
    fileprivate func security(unit: UnitFile) async throws {
        let ending = try await ChildProcess([
            "systemd-analyze", "security", "--offline=true", "--threshold=\(unit.exposure)", "--no-pager",
            unit.copy(in: folder),
        ]).ending()
        #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
        #expect(ending.output.contains("Overall exposure level"))
    }

    @Test("ExecStart of pumpctld has valid options, and names the system's configuration file")
    func command() throws {
        let words = try UnitFile.all[0].command
        #expect(words[0] == UnitFile.all[0].program)
        let command = try #require(try PumpctldCommand.parseAsRoot(Array(words.dropFirst())) as? PumpctldCommand)
        #expect(command.options.config == ConfigurationFile.system)
    }

    @Test("pumpctl-page.service uses pumpctld's socket, without devices, as a user that may open the socket")
    func page() async throws {
        let unit = UnitFile.all[1]
        #expect(try unit.command == [unit.program, "--http", "8080", "--socket", "/run/pumpctld/socket"])
        let lines = unit.text.split(separator: "\n")
        for line in [
            "User=pumpctl-page", "StateDirectory=pumpctl-page", "StateDirectoryMode=0700", "PrivateDevices=yes",
            "IPAddressDeny=any", "IPAddressAllow=localhost", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
            "After=pumpctld.service",
        ] { #expect(lines.contains(line[...]), "\(line)") }
        // A page that requires pumpctld would end with it.
        #expect(!unit.text.contains(/(?m)^(Requires|BindsTo|PartOf)=/))
        let settings = try ConfigurationFile(path: "\(UnitFile.package)/packaging/pumpctld.toml").read()
        let users = try #require(
            TextFile.contents(of: "\(UnitFile.package)/packaging/sysusers.d/pumpctl-page.conf"))
        #expect(users.contains("\nm pumpctl-page \(try #require(settings.daemon.group))\n"))
    }
}
