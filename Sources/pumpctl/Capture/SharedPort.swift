import DescriptorIO
import DeviceKit
import LineProtocol
import SerialPort

/// The work of `record` with a program other than pumpctl: offers the command's device as a pseudo-terminal, which the
/// program opens like a serial port.
enum SharedPort {
    /// The hint if a program can't be started.
    static let startHint = "name a program or a pumpctl command after '--'"

    /// Runs a program with PUMPCTL_PORT set to the pseudo-terminal, and forwards bytes in both directions.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - context: The command's context.
    ///   - patience: The time limit, after the program has ended, for sending its remaining output.
    ///   - note: Prints a note that sending has failed.
    /// - Returns: The program's exit status.
    /// - Throws: For example `LinkError` if the link can't be opened, or if sending has failed.
    static func run(
        _ words: [String], _ context: CommandContext, patience: Duration = .seconds(5),
        note: @escaping @Sendable (String) -> Void
    ) async throws -> Int32 {
        // The program may run for long: with `.watching`, other programs can request OFF over this link.
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
            // Nobody reads the terminal any more.
            fromDevice.cancel()
            _ = await fromDevice.result
            fromProgram.cancel()
            try await output.finish(fromProgram, within: patience)
            return status
        }
    }

    /// Forwards the device's output. If the device is lost, the program's port is hung up.
    private static func pass(from link: any Link, to channel: DescriptorChannel) async throws {
        do {
            for try await bytes in link.received { try await channel.write(bytes) }
        } catch let error as LinkError {
            if error.code != .cancelled { await channel.close() }
            throw error
        }
    }
}
