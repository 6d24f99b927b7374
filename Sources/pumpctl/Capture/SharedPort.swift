import DescriptorIO
import DeviceKit
import LineProtocol
import SerialPort

/// The device of this program as a pseudo-terminal, for a program that opens serial ports.
enum SharedPort {
    /// What to do where a program can't be started.
    static let startHint = "give a program, or a command of pumpctl, after '--'"

    /// Runs a program with PUMPCTL_PORT set to the device, and passes on what both say.
    ///
    /// - Parameters:
    ///   - patience: For how long, once the program has ended, what it has written may take to be sent.
    ///   - note: Where to say that something can't be sent.
    /// - Returns: The program's exit status.
    /// - Throws: `LinkError`: something that the program has written was not sent, or perhaps not.
    static func run(
        _ words: [String], _ context: CommandContext, patience: Duration = .seconds(5),
        note: @escaping @Sendable (String) -> Void
    ) async throws -> Int32 {
        let link = try await context.openLink(for: .watching)
        let channel: DescriptorChannel
        let path: String
        do {
            let terminal = try PseudoTerminal()
            (path, channel) = (terminal.path, terminal.channel(on: context.loop))
        } catch {
            await link.close()
            throw error
        }
        return try await withCleanup({
            await channel.close()
            await link.close()
        }) {
            let fromDevice = Task(executorPreference: context.loop) { try await pass(from: link, to: channel) }
            let output = ProgramOutput(of: channel, to: link, note: note)
            let fromProgram = Task(executorPreference: context.loop) { await output.passOn() }
            let status = try await context.runServed(
                words, with: ["PUMPCTL_PORT": path], hint: startHint)
            fromDevice.cancel()
            _ = await fromDevice.result
            fromProgram.cancel()
            try await output.finish(fromProgram, within: patience)
            return status
        }
    }

    /// Passes on what a device says. Where it is lost the program finds its port hung up.
    private static func pass(from link: any Link, to channel: DescriptorChannel) async throws {
        do {
            for try await bytes in link.received { try await channel.write(bytes) }
        } catch let error as LinkError {
            if error.code != .cancelled { await channel.close() }
            throw error
        }
    }
}
