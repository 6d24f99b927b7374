/// Removes the commands of a Telnet server from a stream (RFC 854, RFC 855).
///
/// A stream is Telnet if its first byte is IAC and the second begins a negotiation. Servers such as ser2net, and those
/// of RFC 2217, begin so. Any other stream passes unchanged: to a raw server, 0xFF is a byte like any other. The filter
/// replies to no negotiation, so that the server uses only the features that every Telnet client has.
struct TelnetFilter: Sendable {
    private enum Byte {
        static let interpretAsCommand: UInt8 = 0xFF
        /// WILL, WONT, DO and DONT, each followed by an option.
        static let negotiations: ClosedRange<UInt8> = 0xFB...0xFE
        static let subnegotiation: UInt8 = 0xFA
        static let endOfSubnegotiation: UInt8 = 0xF0
    }

    /// The place in the stream, which decides the meaning of the next byte.
    private enum Place {
        /// No byte has arrived.
        case beginning
        /// The first byte was IAC. It is held back until the second byte decides.
        case firstCommand
        /// The stream is not Telnet.
        case raw
        case data
        /// The last byte was IAC.
        case command
        /// The last byte was WILL, WONT, DO or DONT.
        case option
        case subnegotiation
        /// The last byte was IAC, within a subnegotiation.
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

    /// Returns the data in the next bytes of the stream. The stream may be cut anywhere.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        if case .raw = place { return bytes }
        var data: [UInt8] = []
        data.reserveCapacity(bytes.count)
        for byte in bytes { take(byte, into: &data) }
        return data
    }

    /// Ends the stream. Returns the byte that was held back; empty if there is none.
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
            // The end of the subnegotiation is missing. Handle the command as one outside a subnegotiation: otherwise
            // all later data would be lost.
            default: takeCommand(byte, into: &data)
            }
        }
    }

    /// Handles the byte after IAC.
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
