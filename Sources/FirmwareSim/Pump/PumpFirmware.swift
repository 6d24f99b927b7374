/// The pump: an Arduino Nano whose firmware speaks ASCII lines, one command a loop turn.
///
/// A turn sleeps for 100 ms and measures for 9 ms. Then it reads the UART until one whole command waits, looks after
/// safety, the button, the potentiometer and the periodic status line, and handles the command; if there was one it blinks
/// for 50 ms. Computing takes no time; printing into a full UART does. Nothing is read at any other moment: the UART keeps
/// 63 bytes, and loses what comes beyond.
///
/// A new pump has been powered for a while: its first turn begins at instant zero. ``reset(at:)`` at zero begins with the
/// bootloader instead.
///
/// ```swift
/// var pump = PumpFirmware(options: PumpFirmwareOptions(lineRate: .unlimited))
/// pump.receive(Array("ON\n".utf8), at: .zero)
/// _ = pump.advance(to: .milliseconds(100))  // OK, PUMP:ON
/// pump.pressButton(at: .seconds(1))
/// _ = pump.advance(to: .seconds(2))  // MANUAL:OFF
/// ```
public struct PumpFirmware: SimulatedDevice {
    /// How long the bootloader swallows input after a reset. The pump protocol: 1 to 2 s.
    public static let bootloaderTime = Duration.milliseconds(1500)
    /// How long `setup()` takes after that. The pump protocol: 1.3 s. Input waits in the UART meanwhile.
    public static let setupTime = Duration.milliseconds(1300)
    /// How long a loop turn sleeps at its beginning.
    public static let pauseTime = Duration.milliseconds(100)
    /// How long it measures after that, before it reads the line. The pump protocol: some 9 ms of work.
    public static let workTime = Duration.milliseconds(9)
    /// How long an idle pump is not looked at, in simulated time.
    static let longestRest = Duration.seconds(10)
    /// How long a turn that handled a command lights the status LED at its end.
    public static let blinkTime = Duration.milliseconds(50)

    /// What the firmware does next, in the order of the program.
    enum Step: Sendable {
        case beginSetup, greet
        case pause, checkSafety, readButton, readPotentiometer, report, handleCommand, blink
    }

    /// Which firmware this is.
    public let options: PumpFirmwareOptions
    /// Commands handled since the simulation began, unknown and too long ones included.
    public private(set) var commandsHandled = 0
    /// The command that was handled last, as it was read: empty where it was too long, and before the first.
    public private(set) var lastCommand: [UInt8] = []
    /// Loop turns begun since the simulation began.
    public private(set) var turns = 0

    private(set) var now: Duration = .zero
    private var bootedAt: Duration = .zero
    private(set) var step = Step.pause
    /// When that is. Tests set it to the moment at which a board's turn came.
    var stepDue: Duration = .zero
    private(set) var uart: UART
    /// What the firmware is in the middle of printing, because the UART had no room.
    private(set) var unprinted: ArraySlice<UInt8> = []
    /// How many bytes at the end of what has not left are no reply: a line of a debug build, and the LF before it.
    private var debugTail = 0

    private var commandLine = PumpCommandLine()
    var controller: PumpController

    /// A pump that is off, with sound probes.
    public init(options: PumpFirmwareOptions = PumpFirmwareOptions()) {
        self.options = options
        uart = UART(rate: options.lineRate)
        controller = PumpController(options: options)
    }
}

// MARK: - The line

extension PumpFirmware {
    /// Puts bytes on the line to the pump; what the UART has no room for when they arrive is lost.
    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        uart.send(bytes, at: max(instant, now))
    }

    /// Runs the pump up to and including `instant`, and returns what it printed.
    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: instant)
        return uart.takeEmissions()
    }

    /// The next step of a loop turn or byte to leave; never `nil`.
    ///
    /// An idle pump's turns show nothing. They are made up for, ``longestRest`` at a time, when it is next looked at.
    public var nextActivity: Duration? {
        if uart.hasEmissions { return now }
        if isIdle { return stepDue + Self.longestRest }
        return min(wakeTime, uart.nextDeparture ?? wakeTime)
    }

    /// Whether its turns do nothing that can be seen until something comes from outside: it does not run, and has nothing to
    /// read, to say, or to show.
    private var isIdle: Bool {
        !isBooting && step != .pause && controller.isIdle && isQuiescent
    }

    /// Whether every command that arrived whole has been handled and its reply has left.
    public var isQuiescent: Bool {
        !uart.hasUnreadInput && commandLine.waiting == nil && unprinted.isEmpty
            && uart.nextDeparture == nil && !uart.hasEmissions
    }

    /// A line of a debug build behind a reply is nothing that a host could wait for. The LF of a command that its CR has
    /// ended is read a turn later, and not answered.
    public var owesReply: Bool {
        commandLine.waiting != nil || unprinted.count + uart.untransmittedCount > debugTail
            || (commandLine.hasBegun ? uart.hasUnreadInput : uart.hasUnread { !PumpCommandLine.isLineEnd($0) })
    }

    /// Resets the board: the pump is off, the bootloader runs, then `setup()`, and whatever was in the UART is lost.
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
    /// Keeps the pump in the error state.
    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) {
        run(to: instant)
        controller.setStuck(isStuck)
    }
}

// MARK: - Time

extension PumpFirmware {
    /// When the program next gets anywhere.
    private var wakeTime: Duration {
        max(now, unprinted.isEmpty ? stepDue : uart.nextDeparture ?? now)
    }

    /// The firmware's `millis()`.
    private var millis: Int {
        let (seconds, attoseconds) = (now - bootedAt).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// Lives through everything up to and including `limit`. Of what coincides, a byte's arrival comes first.
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

    private mutating func next(_ step: Step, after time: Duration = .zero) {
        self.step = step
        stepDue = now + time
    }
}

// MARK: - The program

extension PumpFirmware {
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

    /// Whether what is due unasked is kept for between the lines of the reply to come.
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
    /// Prints lines; those of debug builds only if this is one.
    private mutating func print(_ lines: [String], isDebug: Bool = false) {
        guard !isDebug || options.printsDebugLines else { return }
        debugTail = 0
        for line in lines {
            unprinted.append(contentsOf: (line + options.lineEnding.rawValue).utf8)
        }
        flush()
    }

    /// Prints a line of a debug build behind a reply.
    private mutating func printBehindReply(_ line: String) {
        guard options.printsDebugLines else { return }
        print([line], isDebug: true)
        debugTail = line.utf8.count + options.lineEnding.rawValue.utf8.count
        if options.lineEnding == .carriageReturnLineFeed { debugTail += 1 }
    }

    /// Hands the UART what it has room for.
    private mutating func flush() {
        while let byte = unprinted.first, uart.write(byte, at: now) {
            unprinted.removeFirst()
        }
    }
}
