import ArgumentParser
import DescriptorIO
import DeviceKit
import DeviceTestKit
import Glibc
import LineProtocol
import Synchronization
import Terminal
import TestSupport
import Testing

@testable import pumpctl

@Suite("Port shared with a program", .timeLimit(.minutes(5)))
struct SharedPortTests {
    /// The notes that SharedPort has printed.
    private let notes = Watched("")

    /// Runs a bash script to which pumpctl offers `link` as a port; returns the exit status of the script.
    ///
    /// - Parameter patience: The time limit for sending the rest of the script's output after its end.
    private func run(_ script: String, over link: any Link, patience: Duration = .seconds(100)) async throws -> Int32 {
        let parsed = try #require(try CommandLine(["status", "--no-record"]).parsed() as? any ContextCommand)
        var options = parsed.shared
        options.port = "replay:test"
        let loop = EventLoop.shared
        var context = CommandContext(
            options: options, family: .pump, loop: loop, output: Output(isJSON: false), records: .values,
            record: SharedRecording(of: "pump", on: loop), capture: nil, work: InterruptibleWork())
        context.furtherSchemes["replay"] = { _, _ in link }
        let running = context
        return try await Task(executorPreference: loop) {
            try await SharedPort.run(["bash", "-c", script], running, patience: patience) { [notes] note in
                notes.update { $0 += note }
            }
        }.value
    }

    @Test(
        "After a failed send the program's port hangs up, and nothing more is sent",
        arguments: [LinkError.Code.busy, .timedOut, .system])
    func failedSend(code: LinkError.Code) async throws {
        let script = ScriptedLink { $0 == "TEMP\n" ? "TEMP:34.5\r\n" : nil }
        let link = SendingLink(script) { number, _ in
            number == 2 ? LinkError(code, name: "test", activity: "send") : nil
        }
        // The second `read` ends immediately, because the port hangs up after the failed send of ON.
        let program = #"""
            exec 3<>"$PUMPCTL_PORT"
            printf 'TEMP\n' >&3; read -r -t 100 line <&3
            printf 'ON\n' >&3; read -r -t 100 line <&3
            printf 'SPEED:200\n' >&3
            exit 0
            """#
        let error = await #expect(throws: LinkError.self) { _ = try await run(program, over: link) }
        #expect(error?.code == code)
        #expect(script.unreadSent == ["TEMP\n"])
        #expect(notes.state.contains("hung up"))
    }

    @Test("A pending send and bytes written after it are completed after the program has ended")
    func lastSend() async throws {
        let script = ScriptedLink()
        let link = SendingLink(script) { number, text in
            // The first text is the program's process ID. It is sent only after the program has ended and SharedPort
            // has noticed that.
            guard number == 1, let process = pid_t(text.split(separator: "\n")[0]) else { return nil }
            while kill(process, 0) == 0 { await settle() }
            await settle()
            return Task.isCancelled ? LinkError(.cancelled, name: "test", activity: "send") : nil
        }
        let status = try await run(#"exec 3<>"$PUMPCTL_PORT"; echo $$ >&3; printf 'OFF\n' >&3; exit 4"#, over: link)
        #expect(status == 4)
        #expect(script.unreadSent.joined().hasSuffix("\nOFF\n"))
    }

    @Test("Bytes that cannot be sent in time after the program's end are an error")
    func heldSend() async throws {
        let script = ScriptedLink()
        script.holdSends()
        let error = await #expect(throws: LinkError.self) {
            _ = try await run(#"echo OFF > "$PUMPCTL_PORT""#, over: script, patience: .milliseconds(20))
        }
        #expect(error?.code == .timedOut)
    }
}

/// A link that waits before it sends, or fails to send.
private final class SendingLink: LinkWrapper {
    let link: any Link
    private let count = Mutex(0)
    private let prepare: @Sendable (Int, String) async -> LinkError?

    /// - Parameter prepare: Called before each send with its number, from 1 on, and its text. Any error that it returns
    ///   is thrown instead.
    init(_ link: any Link, _ prepare: @escaping @Sendable (Int, String) async -> LinkError?) {
        (self.link, self.prepare) = (link, prepare)
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if let error = await prepare(number, String(decoding: bytes, as: UTF8.self)) { throw error }
        try await link.send(bytes)
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { false }
}
