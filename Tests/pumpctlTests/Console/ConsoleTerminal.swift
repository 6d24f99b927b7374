import Glibc
import SerialPort

/// A terminal for a program, with the content of its screen.
final class ConsoleTerminal {
    private let terminal: PseudoTerminal
    /// The end for the program's standard streams.
    let slave: CInt
    /// The settings at the program's start, as a shell sets them for a program.
    let settings: termios
    private(set) var screen: ConsoleTestScreen

    /// The end at which a test types and reads.
    var master: CInt { terminal.descriptor }

    init(columns: Int = 80) throws {
        terminal = try PseudoTerminal()
        slave = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
        var settings = termios()
        tcgetattr(slave, &settings)
        settings.c_iflag |= tcflag_t(ICRNL | IXON)
        settings.c_oflag |= tcflag_t(OPOST | ONLCR)
        settings.c_lflag |= tcflag_t(ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN)
        tcsetattr(slave, TCSANOW, &settings)
        tcgetattr(slave, &settings)
        self.settings = settings
        screen = ConsoleTestScreen(columns: columns)
    }

    deinit {
        close(slave)
        terminal.close()
    }

    /// Whether the terminal has its original settings.
    var isAsItWas: Bool {
        var now = termios()
        tcgetattr(slave, &now)
        return now.c_iflag == settings.c_iflag && now.c_oflag == settings.c_oflag && now.c_cflag == settings.c_cflag
            && now.c_lflag == settings.c_lflag
    }

    /// Whether a program has changed the terminal for line editing.
    var isEdited: Bool {
        var now = termios()
        tcgetattr(slave, &now)
        return now.c_lflag & tcflag_t(ICANON) == 0
    }

    /// Reads the program's output until the screen satisfies `isWanted`.
    func wait(_ program: ConsoleProgram, until isWanted: (ConsoleTestScreen) -> Bool) async throws {
        while !isWanted(screen) {
            do {
                guard let bytes = try await program.read() else {
                    throw ConsoleProgram.NothingCame(description: "the end")
                }
                screen.take(bytes)
            } catch {
                throw ConsoleProgram.NothingCame(description: "\(error); the screen shows: \(screen.rows)")
            }
        }
    }

    /// Waits until any row equals `row`.
    func wait(_ program: ConsoleProgram, for row: String) async throws {
        try await wait(program) { $0.rows.contains(row) }
    }

    /// Waits until the last row equals `row`.
    func wait(_ program: ConsoleProgram, forLastRow row: String) async throws {
        try await wait(program) { $0.rows.last == row }
    }
}

/// A terminal's screen, limited to the features that line editing uses.
struct ConsoleTestScreen {
    private var cells: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private let columns: Int
    private var pending: [UInt8] = []
    /// The escape sequences so far that this screen does not know.
    private(set) var unknown: [String] = []

    init(columns: Int) { self.columns = columns }

    /// All rows without trailing blanks. The last one has the cursor, or is below it.
    var rows: [String] {
        cells.map { row in String(String(row).reversed().drop { $0 == " " }.reversed()) }
    }

    mutating func take(_ bytes: [UInt8]) {
        pending += bytes
        while let used = takeOne() { pending.removeFirst(used) }
    }

    /// Handles the first character or escape sequence in `pending`; returns its length, nil if it is incomplete.
    private mutating func takeOne() -> Int? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x0D: column = 0
        case 0x0A:
            row += 1
            if row == cells.count { cells.append([]) }
        case 0x08: column = max(0, column - 1)
        case 0x07: break
        case 0x1B: return takeSequence()
        default:
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            guard pending.count >= length else { return nil }
            for character in String(decoding: pending[..<length], as: UTF8.self) { put(character) }
            return length
        }
        return 1
    }

    private mutating func takeSequence() -> Int? {
        guard pending.count > 1 else { return nil }
        guard pending[1] == UInt8(ascii: "[") else { return 2 }
        guard let end = pending.indices.dropFirst(2).first(where: { pending[$0] >= 0x40 }) else { return nil }
        let number = Int(String(decoding: pending[2..<end], as: UTF8.self))
        switch Character(UnicodeScalar(pending[end])) {
        case "A": row = max(0, row - (number ?? 1))
        case "C": column += number ?? 1
        case "D": column = max(0, column - (number ?? 1))
        case "G": column = (number ?? 1) - 1
        case "K": cells[row] = Array(cells[row].prefix(column))
        case "J":
            cells[row] = Array(cells[row].prefix(column))
            cells.removeSubrange((row + 1)...)
        case "P":
            cells[row].removeSubrange(min(column, cells[row].count)..<min(column + (number ?? 1), cells[row].count))
        case "@": cells[row].insert(contentsOf: [Character](repeating: " ", count: number ?? 1), at: column)
        case "m", "h", "l": break
        default: unknown.append(String(decoding: pending[..<(end + 1)], as: UTF8.self))
        }
        return end + 1
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            row += 1
            column = 0
            if row == cells.count { cells.append([]) }
        }
        while cells[row].count <= column { cells[row].append(" ") }
        cells[row][column] = character
        column += 1
    }
}
