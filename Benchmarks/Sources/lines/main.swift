// The speed and the allocations of framing lines and of parsing a status line. Needs allocations.so preloaded.
// Prints GB/s and allocations per line of framing, then ns and allocations per parsed status line.
import Glibc
import LineProtocol

let statusLine = Array("STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n".utf8)

let countAllocations: @convention(c) () -> UInt = {
    guard let symbol = dlsym(nil, "allocations") else {
        print("lines: not run under allocations.so")
        exit(70)
    }
    return unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)
}()

/// Consumes the result of a computation, so that the optimizer can't remove the computation.
@inline(never) func consume<Value>(_ value: borrowing Value) {}

/// The costs of one operation.
struct Measured {
    var nanoseconds: Double
    var allocations: Double
}

/// Returns the time per operation in the fastest of several rounds of `body`, and the allocations per operation over
/// all rounds. `count` is the number of operations in a round.
func measure(rounds: Int, count: Int, _ body: () -> Void) -> Measured {
    var best = Double.infinity
    let before = countAllocations()
    for _ in 0..<rounds {
        var start = timespec()
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &start)
        body()
        clock_gettime(CLOCK_MONOTONIC, &end)
        best = min(best, Double(end.tv_sec - start.tv_sec) * 1e9 + Double(end.tv_nsec - start.tv_nsec))
    }
    let allocated = countAllocations() - before
    return Measured(nanoseconds: best / Double(count), allocations: Double(allocated) / Double(rounds * count))
}

/// Measures framing status lines from chunks of 4 KiB, whose ends are in the middle of lines.
func framing() -> (gigabytesPerSecond: Double, allocations: Double) {
    let chunkLength = 4096
    let text = Array(repeatElement(statusLine, count: 4096).joined())
    let chunks = stride(from: 0, to: text.count - chunkLength, by: chunkLength).map {
        Array(text[$0..<$0 + chunkLength])
    }
    let lineCount = chunks.count * chunkLength / statusLine.count
    var framer = LineFramer(limit: PumpFamily.lineLimit)
    // The framer allocates its buffer for an incomplete line once: this is not measured.
    for part in [statusLine.prefix(70), statusLine.suffix(from: 70)] { framer.append(part.span) { _, _ in } }
    var byteCount = 0
    let result = measure(rounds: 200, count: lineCount) {
        for chunk in chunks { framer.append(chunk.span) { line, _ in byteCount &+= line.count } }
    }
    consume(byteCount)
    return (Double(statusLine.count) / result.nanoseconds, result.allocations)
}

/// Measures parsing the bytes of a status line and applying the message to a pump's state.
func statusToState() -> Measured {
    let line = Array(statusLine.dropLast(2))
    var state = PumpState()
    let count = 10_000
    let result = measure(rounds: 200, count: count) {
        for _ in 0..<count { state.apply(PumpMessage(line: line.span, ending: .lineFeed)) }
    }
    precondition(state.power == .on && state.temperatures.skin?.celsius == 34.5)
    return result
}

let lines = framing()
let status = statusToState()
print(lines.gigabytesPerSecond, lines.allocations, status.nanoseconds, status.allocations)
