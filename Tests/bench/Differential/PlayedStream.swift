import TestSupport

/// The output and the behaviour of a board to which a stream was played. Times count from the board's reset.
struct PlayedStream: Sendable {
    struct Byte: Sendable {
        var time: Duration
        var value: UInt8
    }

    struct Drive: Sendable {
        var time: Duration
        var motor: Motor
    }

    /// The bytes that left the UART, each with the time at which its last bit ended.
    var bytes: [Byte]
    /// The time at which each turn of the main loop began to measure, which it does just after reading its command.
    var turns: [Duration]
    /// The settings of the motor's driver, each with the time since which it held.
    var drives: [Drive]
    /// The number of bytes for which the receive buffer had no room.
    var lost: Int

    /// The setting of the motor's driver at a time.
    func motor(at time: Duration) -> Motor { drives.last { $0.time <= time }?.motor ?? .off }
}

/// Plays streams to our firmware in simavr.
final class StreamPlayer: Sendable {
    private let process: ChildProcess
    /// The time between the reset and the beginning of a stream.
    let begin: Duration

    /// A line of nano-sim's output does not have the expected form.
    struct NotUnderstood: Error { var line: String }

    /// - Parameter isField: Whether the firmware behaves like the devices in the field.
    init(thermistors: Int, isField: Bool) async throws {
        try await FirmwareBuild.ready()
        process = try await ChildProcess([
            FirmwareBuild.nanoSim, "--play", "--water", "\(RigKind.water)", "--skin", "\(RigKind.skin)", "--knob",
            "\(RigKind.potentiometer)", FirmwareBuild.firmware(thermistors: thermistors, isField: isField),
        ])
        let words = try await process.output.line("when streams begin").split(separator: " ")
        guard words.count == 2, let time = Int(words[1]) else { throw NotUnderstood(line: "begins") }
        begin = .microseconds(time)
    }

    /// Plays a stream to the board, which is each time in the state in which it was just before the first stream.
    func play(_ stream: PumpStream) async throws -> PlayedStream {
        try await process.write(stream.script)
        return try PlayedStream(
            bytes: await records("bytes").map { numbers in
                PlayedStream.Byte(time: .microseconds(numbers[0]), value: UInt8(truncatingIfNeeded: numbers[1]))
            },
            turns: await records("turns").map { .microseconds($0[0]) },
            drives: await records("motor").map { numbers in
                PlayedStream.Drive(
                    time: .microseconds(numbers[0]), motor: Motor(isEnabled: numbers[1] == 1, duty: numbers[2]))
            },
            // -1 equals no count, so a missing number is a difference.
            lost: await records("lost").first?[0] ?? -1)
    }

    /// Reads a line of nano-sim's output that begins with `name`; returns the numbers of each record in the line. The
    /// first number of a record is a time in microseconds.
    private func records(_ name: String) async throws -> [[Int]] {
        let line = try await process.output.line("the \(name) of a stream")
        let words = line.split(separator: " ")
        guard words.first.map({ $0 == name }) == true else { throw NotUnderstood(line: line) }
        let radix = name == "bytes" ? 16 : 10
        return try words.dropFirst().map { word in
            try word.split(separator: ":").enumerated().map { index, digits in
                guard let number = Int(digits, radix: index == 0 ? 10 : radix) else { throw NotUnderstood(line: line) }
                return number
            }
        }
    }

    func stop() async {
        await process.closeInput()
        _ = try? await process.ending()
    }
}
