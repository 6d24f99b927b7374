import ArgumentParser
import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import Terminal
import TestSupport
import Testing
import Transports

@testable import pumpctl

/// The commands run in this process: pumpctl's parser parses their arguments, and pumpctl's `Output` writes their
/// output into memory.
@Suite("Generated commands, captured and replayed", .timeLimit(.minutes(60)))
struct GeneratedCommandTests {
    /// A command's standard output and its exit status.
    private struct Ending: Equatable {
        var output = ""
        var status = ExitStatus.done
    }

    private static let commands: [[String]] = [
        ["on"], ["on", "--speed", "60%"], ["off"], ["speed", "0"], ["speed", "128"], ["speed", "70%"], ["status"],
        ["temp"],
    ].flatMap { [$0, ["--json"] + $0] }

    /// A parsed command, ready to run.
    private struct Parsed {
        let command: any ContextCommand
        let options: SharedOptions

        init(_ words: [String]) throws {
            let parsed = try CommandLine(words + ["--no-record"]).parsed()
            command = try #require(parsed as? any ContextCommand)
            options = command.shared
        }

        /// - Parameters:
        ///   - port: The command's endpoint, which begins with `replay:`.
        ///   - path: The path for a capture; nil for no capture.
        ///   - device: Opens the endpoint; nil to replay its capture.
        func run(_ port: String, capturedAt path: String?, _ device: LinkSchemes.Opener?) async throws -> Ending {
            let loop = EventLoop.shared
            let text = Watched("")
            var options = options
            (options.port, options.capture) = (port, path)
            let output = Output(
                isJSON: options.json,
                on: ResultStream { piece in
                    text.update { $0 += piece }
                    return nil
                })
            let capture = try await Capture.begin(options, .pump, isStop: false, output, loop)
            var context = CommandContext(
                options: options, family: .pump, loop: loop, output: output, records: .values,
                record: SharedRecording(of: "pump", on: loop), capture: capture, work: InterruptibleWork())
            if let device { context.furtherSchemes["replay"] = device }
            var ending = Ending()
            let (command, running) = (command, context)
            let result = await Task(executorPreference: loop) { try await command.run(in: running) }.result
            if case .failure(let error) = result {
                let failure = Failure(of: error, .pump, at: context.place)
                output.record(of: failure)
                ending.status = failure.status
            }
            await capture?.finish()
            ending.output = text.state
            return ending
        }
    }

    @Test(
        "A replayed command prints the same bytes and exits with the same status",
        arguments: Seeds(200, soak: 10_000).pieces(10))
    func replays(seeds: Range<UInt64>) async throws {
        let folder = TemporaryFolder()
        let parsed = try Self.commands.map(Parsed.init)
        for seed in seeds {
            let command = parsed[Int(seed) % parsed.count]
            let path = folder.path("\(seed)")
            let port = "replay:\(path)?pace=none"
            let link = ScriptedLink()
            let device = Task {
                var pump = GeneratedPump(seed: seed, isDifficult: false)
                while case let sent = await link.nextSent(), sent != ScriptedLink.nothing {
                    await link.deliver(pump.answer(to: sent).map(\.bytes))
                }
            }
            let original = try await command.run(port, capturedAt: path) { _, _ in link }
            device.cancel()
            await device.value
            // A failed command may print nothing: its message goes to standard error, which is not part of `output`.
            #expect(!original.output.isEmpty || original.status != .done)
            let replay = try await command.run(port, capturedAt: nil, nil)
            #expect(replay == original, "seed \(seed)")
        }
    }
}
