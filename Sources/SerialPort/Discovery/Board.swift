/// What a USB device with a serial port probably is.
public struct Board: Sendable, Hashable {
    /// The name of the board, or of the adapter's chip where that serves many boards.
    public let name: String
    /// Boards on which such a chip is often found; nil where ``name`` is a board.
    public let oftenOn: String?

    /// Looks up a VID:PID, then what is known of the vendor; nil where neither is known.
    public init?(usb identifier: USBIdentifier) {
        if let board = Self.byIdentifier[identifier] {
            self = board
        } else if let name = BoardTable.vendors[identifier.vendor] {
            self.init(name: name, oftenOn: nil)
        } else {
            return nil
        }
    }

    private init(name: String, oftenOn: String?) {
        self.name = name
        self.oftenOn = oftenOn
    }

    private static let byIdentifier: [USBIdentifier: Board] = {
        var boards: [USBIdentifier: Board] = [:]
        for (vendor, product, name, oftenOn) in BoardTable.products {
            boards[USBIdentifier(vendor: vendor, product: product)] = Board(name: name, oftenOn: oftenOn)
        }
        return boards
    }()
}

extension Board: CustomStringConvertible {
    /// As in `CH340 (Nano clone)`.
    public var description: String { oftenOn.map { "\(name) (\($0))" } ?? name }
}
