public import LineProtocol
public import Transports

/// An event of a ``MessageRelay`` and its helpers.
public enum RelayEvent: Sendable {
    // MARK: Messages

    /// A new message has arrived and is stored.
    case kept(RescueMessage)
    /// New messages have arrived after the number of the ``MessageGoal`` was reached, and are stored.
    case surplus([RescueMessage])
    /// Messages have arrived that were stored before. Reported once.
    case known
    /// A message has arrived but can't be stored yet.
    case notKept(RescueMessage)
    /// Bytes have arrived that are no message.
    case malformed(RescueError)
    /// This number of messages was handed on over the link of this name.
    case handedOn(Int, to: String)

    // MARK: The store

    /// The store can't store or return messages now, or can't mark them as sent. The attempt is repeated.
    case storeFails(RescueStoreError)
    /// Storing works again, and the messages that had to wait are stored.
    case storeRecovers

    // MARK: A device of a `MessageCarrier`

    /// The link of the device is lost. The carrier waits for the device.
    case lost(LinkError)
    /// The device is back at the endpoint of this name.
    case back(String)
    /// The device is not there yet, and the carrier waits for it.
    case waitsForDevice(LinkError)

    // MARK: Phones

    /// No phone is in range yet.
    case nobodyInSight
    /// A search for phones has failed, and is tried again.
    case searchFails(LinkError)
    /// A phone is connected.
    case came(BLESurvey.Sighting)
    /// A phone has left, or its link was closed. If `isServed` is true, the phone is not connected again.
    case left(BLESurvey.Sighting, isServed: Bool)
    /// A phone could not be connected.
    case notConnected(BLESurvey.Sighting, LinkError)
    /// The adapter accepts no more connections: the phone has to wait until another phone leaves.
    case waits(BLESurvey.Sighting, LinkError)
    /// A change of the offer of this computer, with the name that phones see.
    case offer(BLEOffer.Event, as: String)
}
