import Testing

@testable import Sharing

/// Input for the sharing rules of a device, and the expected pieces.
struct RulesTable: Sendable, CustomTestStringConvertible {
    let name: String
    /// The chunks or packets of the device's output.
    let arrivals: [String]
    /// The expected pieces: `all: ` or `asker: ` with the bytes for all clients or for the client that asked, `end` for
    /// the end of a reply, and `broken` for a reply that is incomplete.
    let pieces: [String]

    init(_ name: String, _ arrivals: [String], _ pieces: [String]) {
        self.name = name
        self.arrivals = arrivals
        self.pieces = pieces
    }

    var testDescription: String { name }

    /// Runs `rules` on the arrivals and on the end of the reply. Returns the pieces, with adjacent bytes for the client
    /// that asked joined.
    func run(_ rules: some StreamRules) -> [String] {
        var rules = rules
        var pieces = arrivals.flatMap { rules.take(Array($0.utf8)) } + rules.finish()
        for index in pieces.indices.dropFirst().reversed() {
            if case .forAsker(let first) = pieces[index - 1], case .forAsker(let second) = pieces[index] {
                pieces[index - 1] = .forAsker(first + second)
                pieces.remove(at: index)
            }
        }
        return pieces.filter { $0 != .forAsker([]) }.map(\.text)
    }
}

extension StreamPiece {
    var text: String {
        switch self {
        case .forAll(let bytes): "all: \(String(decoding: bytes, as: UTF8.self))"
        case .forAsker(let bytes): "asker: \(String(decoding: bytes, as: UTF8.self))"
        case .broken: "broken"
        case .answerEnds: "end"
        }
    }
}
