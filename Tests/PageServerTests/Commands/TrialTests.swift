import DescriptorIO
import Glibc
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Trials by HTTP", .timeLimit(.minutes(5)))
struct TrialTests {
    private let folder = TemporaryFolder()

    /// Returns the path of a stand-in for pumpctl: a shell script that works in its own folder.
    private func pumpctl(_ script: String) -> String {
        let path = folder.write("#!/bin/sh\ncd \"${0%/*}\"\n\(script)\n", to: "pumpctl")
        chmod(path, 0o700)
        return path
    }

    /// Requests a trial, and returns everything that the client receives.
    private func trial(_ command: String, _ bench: PageBench) async throws -> String {
        let client = try await bench.client()
        try await client.send("POST", "/api/v1/devices/pump/\(command)", token: bench.token)
        return try await client.received.all("the response")
    }

    @Test(
        "pumpctl gets the device, its family and the daemon's socket, and the client gets its output",
        arguments: ["verify", "latency"])
    func lines(command: String) async throws {
        // The fourth descriptor is that of the folder that `ls` reads: pumpctl inherits only the standard streams.
        let program = pumpctl("echo \"$@\"; echo \"$PUMPCTLD_SOCKET\"; ls /proc/self/fd; exit 2")
        try await PageBench.run(pumpctl: program) { bench in
            let text = try await trial(command, bench)
            #expect(text.contains("\r\nContent-Type: application/x-ndjson\r\n"))
            #expect(
                PageClient.content(text)
                    == "\(command) --port shared:pump --family pump --json\n\(bench.daemon.path)\n0\n1\n2\n3\n")
            #expect(text.hasSuffix("\r\n0\r\n\r\n"))
        }
    }

    @Test("If pumpctl is killed, the response has no last chunk")
    func killed() async throws {
        let program = pumpctl("echo '{}'; kill -9 $$")
        try await PageBench.run(pumpctl: program) { bench in
            let text = try await trial("verify", bench)
            #expect(text.contains("{}\n") && !text.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test(
        "If the client leaves or the server ends, pumpctl is interrupted, and can end in its own time",
        arguments: [false, true])
    func left(isServer: Bool) async throws {
        // The output after the interrupt has no reader. A second interrupt would end the script early.
        let script = "trap 'kill $!; echo off; echo off; touch off; exit 130' INT; sleep 1000 & echo '{}'; wait"
        let program = pumpctl(script)
        try await PageBench.run(pumpctl: program) { bench in
            let watch = try FolderWatch(folder.path)
            let client = try await bench.client()
            try await client.send("POST", "/api/v1/devices/pump/verify", token: bench.token)
            try await client.received.text(upTo: "{}\n")
            let other = try await bench.ask("POST", "/api/v1/devices/pump/latency")
            #expect(other.status == 429 && other.code == "too_many_requests")
            if isServer { bench.end() } else { await client.channel.close() }
            _ = try await watch.wait(for: "the end of pumpctl") {
                access(folder.path("off"), F_OK) == 0 ? true : nil
            }
        }
    }

    @Test("Without pumpctl or the device, or with a body, nothing is started")
    func refused() async throws {
        let program = pumpctl("touch started")
        try await PageBench.run(pumpctl: program) { bench in
            let unknown = try await bench.ask("POST", "/api/v1/devices/other/verify")
            #expect(unknown.status == 404 && unknown.code == "no_such_device")
            let order = try await bench.ask("POST", "/api/v1/devices/pump/verify", object(["allow_run": true]))
            #expect(order.status == 400)
        }
        try await PageBench.run { bench in
            let missing = try await bench.ask("POST", "/api/v1/devices/pump/verify")
            #expect(missing.status == 503 && missing.code == "not_installed")
        }
        try await PageBench.run(pumpctl: folder.path("absent")) { bench in
            let absent = try await bench.ask("POST", "/api/v1/devices/pump/verify")
            #expect(absent.status == 503 && absent.code == "failed" && absent.outcome == "not_sent")
        }
        #expect(access(folder.path("started"), F_OK) != 0)
    }
}
