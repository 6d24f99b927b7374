import DescriptorIO
import DeviceKit

/// A table of devices on the terminal that is drawn over when something is new.
actor LiveTable {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The least time from one drawing to the next: among many devices there is something new all the time.
    private static let pause = Duration.milliseconds(100)

    private let loop: EventLoop
    private let output: Output
    private let size: () -> TerminalSize?
    private var devices: [ScannedDevice] = []
    /// How many lines of the last drawing are above the cursor.
    private var drawnLines = 0
    private var pausing: Task<Void, Never>?
    private var isStale = false

    /// - Parameter size: What the terminal shows; nil where it does not tell.
    init(_ output: Output, on loop: EventLoop, size: @escaping @Sendable () -> TerminalSize? = { .current }) {
        self.loop = loop
        self.output = output
        self.size = size
    }

    /// Shows these, soon.
    func show(_ devices: [ScannedDevice]) {
        self.devices = devices
        guard pausing == nil else {
            isStale = true
            return
        }
        draw()
        pausing = Task(executorPreference: loop) { [loop] in
            guard (try? await EventLoopClock(loop).sleep(for: Self.pause)) != nil else { return }
            await self.resume()
        }
    }

    private func resume() {
        pausing = nil
        guard isStale else { return }
        isStale = false
        show(devices)
    }

    /// Leaves a line standing above the table.
    func note(_ text: String) {
        output.draw(Self.upwards(drawnLines) + "\u{1B}[J" + text + "\n")
        drawnLines = 0
        draw()
    }

    /// Draws all of it a last time and leaves it standing.
    func end() {
        pausing?.cancel()
        if drawnLines > 0 { draw(isWhole: true) }
        drawnLines = 0
    }

    private func draw(isWhole: Bool = false) {
        let size = size() ?? TerminalSize(columns: 80, rows: 24)
        // The last column is left free: terminals differ in where the cursor is behind it.
        let lines = Self.lines(devices, size.columns - 1, rows: isWhole ? nil : size.rows - 1)
        // What was drawn last is above the cursor, unless the terminal has become smaller since.
        let up = min(drawnLines, size.rows - 1)
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        output.draw(Self.upwards(up) + text + "\u{1B}[J")
        drawnLines = lines.count
    }

    /// To the beginning of a line above.
    private static func upwards(_ lines: Int) -> String { "\r" + (lines > 0 ? "\u{1B}[\(lines)A" : "") }

    /// - Parameter rows: How many lines there may be; nil for any number.
    static func lines(_ devices: [ScannedDevice], _ columns: Int, rows: Int?) -> [String] {
        guard !devices.isEmpty else { return ["scanning…".cut(to: columns)] }
        let lines = ScanTable.lines(devices, width: columns)
        guard let rows, lines.count > rows else { return lines }
        let shown = lines.prefix(max(rows - 1, 0))
        return shown + ["… and \(lines.count - shown.count) more".cut(to: columns)]
    }
}
