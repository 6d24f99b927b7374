import Glibc
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl serve")
struct ServeCommandTests {
    @Test(
        "serve passes all arguments except its own name to pumpctld",
        arguments: [
            ("serve", ""), ("serve --config a", "--config a"), ("-p serve serve --pty a", "-p=serve --pty a"),
            ("--port=x serve --name serve", "--port=x --name serve"), ("serve --help", "--help"),
            ("help serve", "--help"), ("-v serve -- x", "-v -- x"),
        ])
    func arguments(line: String, handed: String) {
        let words = CommandLine(line.split(separator: " ").map(String.init)).arguments
        #expect(words.joined(separator: " ") == handed)
    }

    @Test("serve has pumpctld's help, errors and exit codes")
    func program() async throws {
        for arguments in [["serve", "--help"], ["help", "serve"]] {
            let help = try await Pumpctl.start(arguments).ending()
            #expect(help.status == 0)
            #expect(help.output.contains("--insecure-listen"))
        }
        let ending = try await Pumpctl.run("--port", "/dev/x", "serve", "--tcp", "0.0.0.0:1")
        expectFailure(
            ending, 64, saying: "pumpctld: --tcp: tcp:0.0.0.0:1 is open to other machines", hint: "--insecure-listen")
        expectFailure(try await Pumpctl.run("serve", "--timeout", "2"), 64, saying: "Unknown option '--timeout'")
    }

    @Test("serve runs until SIGTERM", .timeLimit(.minutes(5)))
    func serving() async throws {
        let server = try await Pumpctl.start(["serve", "--port", "/nowhere/x", "--name", "bench"])
        try await server.errors.text(upTo: "serving devices=bench")
        server.send(signal: SIGTERM)
        #expect(try await server.ending().status == 0)
    }
}
