/// Takes out of a stream what a Telnet server says to Telnet clients (RFC 854, RFC 855).
///
/// A stream is Telnet where its very first byte is IAC and the second begins a negotiation, as of servers such as ser2net
/// and those of RFC 2217. Of any other stream not a byte is touched: to a raw server 0xFF is a byte as any other.
/// Nothing is answered: a server then keeps to what every Telnet client can do.
struct TelnetFilter: Sendable {
    private enum Byte {
        static let interpretAsCommand: UInt8 = 0xFF
        /// WILL, WONT, DO, DONT; an option follows.
        static let negotiations: ClosedRange<UInt8> = 0xFB...0xFE
        static let subnegotiation: UInt8 = 0xFA
        static let endOfSubnegotiation: UInt8 = 0xF0
    }

    /// What the next byte belongs to.
    private enum Place {
        /// Nothing has come.
        case beginning
        /// IAC has come as the first byte, and is held back: the second decides.
        case firstCommand
        /// The stream is not Telnet.
        case raw
        case data
        /// IAC has come.
        case command
        /// WILL, WONT, DO or DONT has come.
        case option
        case subnegotiation
        /// IAC has come within a subnegotiation.
        case subnegotiationCommand
    }

    private var place = Place.beginning

    /// Whether the stream has turned out to be Telnet.
    var isTelnet: Bool {
        switch place {
        case .beginning, .firstCommand, .raw: false
        case .data, .command, .option, .subnegotiation, .subnegotiationCommand: true
        }
    }

    /// The data in the next bytes of the stream, which may be cut anywhere.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        if case .raw = place { return bytes }
        var data: [UInt8] = []
        data.reserveCapacity(bytes.count)
        for byte in bytes { take(byte, into: &data) }
        return data
    }

    /// What was held back, once nothing more will come.
    mutating func finish() -> [UInt8] {
        guard case .firstCommand = place else { return [] }
        place = .raw
        return [Byte.interpretAsCommand]
    }

    private mutating func take(_ byte: UInt8, into data: inout [UInt8]) {
        switch place {
        case .beginning:
            if byte == Byte.interpretAsCommand {
                place = .firstCommand
            } else {
                place = .raw
                data.append(byte)
            }
        case .firstCommand:
            if Byte.negotiations.contains(byte) {
                place = .option
            } else {
                place = .raw
                data += [Byte.interpretAsCommand, byte]
            }
        case .raw:
            data.append(byte)
        case .data:
            if byte == Byte.interpretAsCommand { place = .command } else { data.append(byte) }
        case .command:
            takeCommand(byte, into: &data)
        case .option:
            place = .data
        case .subnegotiation:
            if byte == Byte.interpretAsCommand { place = .subnegotiationCommand }
        case .subnegotiationCommand:
            switch byte {
            case Byte.endOfSubnegotiation: place = .data
            case Byte.interpretAsCommand: place = .subnegotiation
            // Its end was left out, and the command stands by itself: else all that follows would be lost.
            default: takeCommand(byte, into: &data)
            }
        }
    }

    /// Takes the byte behind IAC.
    private mutating func takeCommand(_ byte: UInt8, into data: inout [UInt8]) {
        switch byte {
        case Byte.interpretAsCommand:
            place = .data
            data.append(byte)
        case Byte.negotiations: place = .option
        case Byte.subnegotiation: place = .subnegotiation
        default: place = .data
        }
    }
}
