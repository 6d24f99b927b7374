public import LineProtocol
public import Transports

/// What a ``MessageRelay``, and what works for it, has to tell.
public enum RelayEvent: Sendable {
    // MARK: Messages

    /// A message has come that is new, and is kept.
    case kept(RescueMessage)
    /// Messages have come that are new and kept, behind the last that was waited for.
    case surplus([RescueMessage])
    /// Messages have come that were kept before; told once.
    case known
    /// A message has come that is not kept for now.
    case notKept(RescueMessage)
    /// Something has come that is no message.
    case malformed(RescueError)
    /// Messages were handed on to who listens, over the link of that name.
    case handedOn(Int, to: String)

    // MARK: The store

    /// Messages can't be kept for now.
    case storeFails(RescueStoreError)
    /// They are kept again, with those that have come meanwhile.
    case storeRecovers

    // MARK: A device of a `MessageCarrier`

    /// Its link is lost. It is waited for.
    case lost(LinkError)
    /// It is back at the endpoint of that name.
    case back(String)
    /// It is not there yet, and is waited for.
    case waitsForDevice(LinkError)

    // MARK: Phones

    /// No phone is in sight yet.
    case nobodyInSight
    /// Phones can't be looked for now; that is tried again.
    case searchFails(LinkError)
    /// A phone is connected.
    case came(BLESurvey.Sighting)
    /// A phone has left, or is served where each is served once.
    case left(BLESurvey.Sighting, isServed: Bool)
    /// A phone could not be connected.
    case notConnected(BLESurvey.Sighting, LinkError)
    /// The adapter takes no more: a phone has to wait until another leaves.
    case waits(BLESurvey.Sighting, LinkError)
    /// What has become of the offer of this computer, by the name that phones find.
    case offer(BLEOffer.Event, as: String)
}
