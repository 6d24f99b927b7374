/// The pump: an Arduino Nano whose firmware speaks ASCII lines, and handles one command per loop turn.
///
/// A turn sleeps for 100 ms and measures for 9 ms. Then it takes the bytes that the UART holds, at most up to the end
/// of one command, serves the safety check, the button, the potentiometer and the periodic status line, and handles the
/// command if it is complete. After a command, it blinks for 50 ms. Computing takes no time, but printing into a full
/// UART does. The UART is read at no other moment: it keeps 63 bytes, and loses the rest.
///
/// A new pump has been powered for a while: its first turn begins at instant zero. ``reset(at:)`` at zero begins with
/// the bootloader instead.
///
/// ```swift
/// var pump = PumpFirmware(options: PumpFirmwareOptions(lineRate: .unlimited))
/// pump.receive(Array("ON\n".utf8), at: .zero)
/// _ = pump.advance(to: .milliseconds(200))  // OK, PUMP:ON
/// pump.pressButton(at: .seconds(1))
/// _ = pump.advance(to: .seconds(2))  // MANUAL:OFF
/// ```
public struct PumpFirmware: SimulatedDevice {
    /// The time for which the bootloader swallows input after a reset. The pump protocol: 1 to 2 s.
    public static let bootloaderTime = Duration.milliseconds(1500)
    /// The time that `setup()` takes after the bootloader, while input waits in the UART. The pump protocol: 1.3 s.
    public static let setupTime = Duration.milliseconds(1300)
    /// The time that a loop turn sleeps at its beginning.
    public static let pauseTime = Duration.milliseconds(100)
    /// The time for which a turn measures, between the sleep and the reading of the line. The pump protocol: some 9 ms
    /// of work.
    public static let workTime = Duration.milliseconds(9)
    /// The interval, in simulated time, at which an idle pump is run: waking it for each turn would be useless, and
    /// never waking it would leave too many turns to catch up on at once.
    static let longestRest = Duration.seconds(10)
    /// The time for which a turn that handled a command lights the status LED at its end.
    public static let blinkTime = Duration.milliseconds(50)

    /// A step of the firmware, in the order of the program.
    enum Step: Sendable {
        case beginSetup, greet
        case pause, checkSafety, readButton, readPotentiometer, report, handleCommand, blink
    }

    /// The options of this firmware.
    public let options: PumpFirmwareOptions
    /// The number of commands handled since the simulation began, including unknown and too long ones.
    public private(set) var commandsHandled = 0
    /// The last handled command, as it was read; empty if that command was too long, and before the first command.
    public private(set) var lastCommand: [UInt8] = []
    /// The number of loop turns begun since the simulation began.
    public private(set) var turns = 0

    private(set) var now: Duration = .zero
    /// The instant at which `setup()` last began, from which `millis()` counts.
    private var bootedAt: Duration = .zero
    /// The next step, which the firmware performs at ``stepDue``.
    private(set) var step = Step.pause
    /// The instant of the next step. Tests set it to the instant of a real board's turn.
    var stepDue: Duration = .zero
    private(set) var uart: UART
    /// The rest of the text that the firmware is printing, for which the UART had no room.
    private(set) var unprinted: ArraySlice<UInt8> = []
    /// The number of bytes at the end of the pending output that are no reply: a line of a debug build, and the LF
    /// before it.
    private var debugTail = 0

    private var commandLine = PumpCommandLine()
    var controller: PumpController

    /// Creates a pump that is off, with sound probes.
    public init(options: PumpFirmwareOptions = PumpFirmwareOptions()) {
        self.options = options
        uart = UART(rate: options.lineRate)
        controller = PumpController(options: options)
    }
}

// MARK: - The line

extension PumpFirmware {
    /// Puts bytes on the line to the pump. Bytes for which the UART has no room when they arrive are lost.
    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        uart.send(bytes, at: max(instant, now))
    }

    /// Runs the pump up to and including `instant`, and returns the text that the pump printed since the last call.
    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: instant)
        return uart.takeEmissions()
    }

    /// The instant of the next step of a loop turn, or of the next departing byte; never `nil`.
    ///
    /// The turns of an idle pump show nothing, so its next activity is ten seconds after its next step, and a run to
    /// any instant catches up on the turns before that instant.
    public var nextActivity: Duration? {
        if uart.hasEmissions { return now }
        if isIdle { return stepDue + Self.longestRest }
        return min(wakeTime, uart.nextDeparture ?? wakeTime)
    }

    /// Whether the turns of the pump have no visible effect until something comes from outside: the pump does not run,
    /// and has nothing to read, to send or to show. While the next step is `pause`, the status LED may be lit.
    private var isIdle: Bool {
        !isBooting && step != .pause && controller.isIdle && isQuiescent
    }

    /// Whether no byte is on its way or unread, no command waits, and all output has left and was returned.
    public var isQuiescent: Bool {
        !uart.hasUnreadInput && commandLine.waiting == nil && unprinted.isEmpty
            && uart.nextDeparture == nil && !uart.hasEmissions
    }

    /// Whether a command is not handled yet, or a reply has not left. A debug line after a reply does not count,
    /// because no host can wait for it. The LF of a command that its CR has ended gets no reply, so it does not count
    /// either.
    public var owesReply: Bool {
        commandLine.waiting != nil || unprinted.count + uart.untransmittedCount > debugTail
            || (commandLine.hasBegun ? uart.hasUnreadInput : uart.hasUnread { !PumpCommandLine.isLineEnd($0) })
    }

    /// Resets the board: the pump is off, the bootloader runs, then `setup()`, and bytes in the UART are lost.
    public mutating func reset(at instant: Duration) {
        run(to: instant)
        uart.clear()
        unprinted = []
        commandLine = PumpCommandLine()
        controller.surroundings.advance(to: now, duty: controller.motor.duty)
        controller.reset()
        step = .beginSetup
        stepDue = now + Self.bootloaderTime
    }
}

extension PumpFirmware {
    /// Sets whether the pump is kept in the error state. A pump that is no longer kept there stays in that state until
    /// OFF, a press of the button or a reset.
    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) {
        run(to: instant)
        controller.setStuck(isStuck)
    }
}

// MARK: - Time

extension PumpFirmware {
    /// The instant at which the program can go on.
    private var wakeTime: Duration {
        max(now, unprinted.isEmpty ? stepDue : uart.nextDeparture ?? now)
    }

    /// The firmware's `millis()`.
    private var millis: Int {
        let (seconds, attoseconds) = (now - bootedAt).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// Simulates everything up to and including `limit`. If a byte arrives at the instant of a step, the arrival comes
    /// first.
    mutating func run(to limit: Duration) {
        while true {
            let wake = wakeTime
            if let arrival = uart.nextArrival, arrival <= wake {
                guard arrival <= limit else { break }
                now = max(now, arrival)
                uart.takeArrival(keeping: step != .beginSetup)
            } else {
                guard wake <= limit else { break }
                now = wake
                flush()
                while unprinted.isEmpty, stepDue <= now {
                    perform(step)
                }
            }
        }
        now = max(now, limit)
        uart.transmit(until: now)
    }

    /// Moves bytes from the UART into the command buffer until a whole command waits.
    mutating func readLine() {
        while commandLine.waiting == nil, let byte = uart.read() {
            commandLine.append(byte)
        }
    }

    /// Sets the next step, `time` from now.
    private mutating func next(_ step: Step, after time: Duration = .zero) {
        self.step = step
        stepDue = now + time
    }
}

// MARK: - The program

extension PumpFirmware {
    /// Performs a step of the program, and sets the next one.
    private mutating func perform(_ current: Step) {
        switch current {
        case .beginSetup:
            bootedAt = now
            next(.greet, after: Self.setupTime)
        case .greet:
            next(.pause)
            print(["[SETUP] Done"], isDebug: true)
            print(PumpText.banner(options))
        case .pause:
            turns += 1
            next(.checkSafety, after: Self.pauseTime + Self.workTime)
        case .checkSafety:
            next(.readButton)
            readLine()
            checkSafety()
        case .readButton:
            next(.readPotentiometer)
            if !leavesRoomInReply { readButton() }
        case .readPotentiometer:
            next(.report)
            readPotentiometer()
        case .report:
            next(.handleCommand)
            if !leavesRoomInReply { report() }
        case .handleCommand:
            next(commandLine.waiting == nil ? .pause : .blink)
            handleCommand()
        case .blink:
            next(.pause, after: Self.blinkTime)
        }
    }

    /// Whether unsolicited output waits for its place between the lines of the next reply.
    private var leavesRoomInReply: Bool {
        options.interruptsReplies && commandLine.waiting != nil
    }

    private mutating func checkSafety() {
        controller.surroundings.advance(to: now, duty: controller.motor.duty)
        let lines = controller.checkSafety(at: millis)
        guard !lines.isEmpty else { return }
        print(["[WARNING] Shutting off"], isDebug: true)
        print(lines)
    }

    private mutating func readButton() {
        let lines = controller.readButton(at: millis)
        guard !lines.isEmpty else { return }
        print(["[BUTTON] Pressed"], isDebug: true)
        print(lines)
    }

    private mutating func readPotentiometer() {
        guard let duty = controller.readPotentiometer() else { return }
        print(["[POT] \(duty)"], isDebug: true)
    }

    private mutating func report() {
        let lines = controller.report(at: millis)
        guard !lines.isEmpty else { return }
        print(lines)
    }

    private mutating func handleCommand() {
        guard let input = commandLine.takeWaiting() else { return }
        commandsHandled += 1
        lastCommand = []
        if case .line(let line) = input {
            lastCommand = line
            print(["[BT] " + String(decoding: line, as: UTF8.self)], isDebug: true)
        }
        let stateBefore = controller.motor.state
        let reply = controller.reply(to: input, at: millis)
        if controller.motor.state != stateBefore {
            print(["[PUMP] " + controller.motor.state.rawValue], isDebug: true)
        }
        print(Array(reply.prefix(1)))
        if options.interruptsReplies {
            readButton()
            report()
        }
        print(Array(reply.dropFirst()))
        printBehindReply("[MAIN] Command handled")
    }
}

// MARK: - Printing

extension PumpFirmware {
    /// Prints lines. Debug lines are printed only by a debug build.
    private mutating func print(_ lines: [String], isDebug: Bool = false) {
        guard !isDebug || options.printsDebugLines else { return }
        debugTail = 0
        for line in lines {
            unprinted.append(contentsOf: (line + options.lineEnding.rawValue).utf8)
        }
        flush()
    }

    /// Prints a debug line after a reply.
    private mutating func printBehindReply(_ line: String) {
        guard options.printsDebugLines else { return }
        print([line], isDebug: true)
        debugTail = line.utf8.count + options.lineEnding.rawValue.utf8.count
        if options.lineEnding == .carriageReturnLineFeed { debugTail += 1 }
    }

    /// Passes as many bytes to the UART as the UART has room for.
    private mutating func flush() {
        while let byte = unprinted.first, uart.write(byte, at: now) {
            unprinted.removeFirst()
        }
    }
}
